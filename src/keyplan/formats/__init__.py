"""Exports a design, with one module per format: infrastructure templates, requests, a policy, a model, a diagram.

``registry.py`` lists the formats, ``deployment_options.py`` defines the table's deployment options (billing, tags,
...), and ``yaml_json.py`` writes YAML and JSON. This package opens no stores and writes no files.
"""
