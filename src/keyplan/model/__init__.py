"""The language of designs: Table, Index, Entity, Key, read, write; and compiling signatures to plans.

Nothing here makes a request: plans are carried out by ``keyplan.client``. The public names are those of ``keyplan``.
"""
