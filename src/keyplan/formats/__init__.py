"""A design as other tools want it: infrastructure templates, requests, a policy, a diagram. One file a format.

``formats.py`` lists them, ``deployment.py`` holds what a design doesn't say of its table (billing, tags, ...). How much
of the trees a format has in common with others is written in ``trees.py`` (YAML, JSON) and ``hcl.py``. Nothing here
opens a store or writes a file: the command line does.
"""
