"""The designs of the five documents, exactly as they have them: keys, names and faults. ``keyplan check`` must find the
faults; the systems in ``keyplan_systems`` mend them. A fault that the compiler refuses has a module of its own, which
can't be imported.
"""
