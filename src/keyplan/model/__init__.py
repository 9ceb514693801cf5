"""Defines the design language (Table, Index, Entity, Key, read, write), and compiles signatures into plans.

This package sends no requests: ``keyplan.client`` executes plans. The public names are exported by ``keyplan``.
"""
