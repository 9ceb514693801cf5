"""The catalogue's site: to look through it, cite papers and take them along. It shows what is published, and changes
nothing.
"""
