"""Exports of a design, one file per format: infrastructure templates, requests, a policy, a model, a diagram.

``registry.py`` lists them, ``deployment_options.py`` has the table's deployment options (billing, tags, ...), and
``yaml_json.py`` and ``hcl.py`` write trees. Nothing here opens a store or writes a file.
"""
