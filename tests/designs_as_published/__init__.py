"""Published designs with their original keys, names and flaws. ``keyplan check`` must find the flaws, and
``keyplan_systems`` contains corrected versions of five designs. Designs with flaws that the compiler rejects are in
separate modules, because importing these modules raises an error.
"""
