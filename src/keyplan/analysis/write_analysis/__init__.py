"""The analysis of writes: what a write's body reads, writes, expects and needs, for the commands that ask for it.

``body_reader.py`` reads the body's syntax tree, every branch of it; ``typical_world.py`` runs it once for "every read
finds an item" and once for "no read finds an item", with typical arguments or those of ``@write(..., example=...)``,
without a store. ``analysis.py`` puts both together. What neither shows is reported as unknown.
"""
