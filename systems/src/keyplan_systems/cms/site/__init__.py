"""The editor's pages of the CMS: the desk, the editor with its preview, versions, members; and what readers' programs
fetch.
"""
