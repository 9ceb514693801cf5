"""The five published designs with their original keys, names and flaws. ``keyplan check`` must find the flaws, which
the systems in ``keyplan_systems`` correct. Designs with flaws that the compiler rejects are in separate modules,
because importing these modules raises an error.
"""
