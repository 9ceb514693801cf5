"""The shop's site: what customers and merchants see. ``people`` signs them in, ``pages`` are customers', ``selling`` is
the merchants', ``making`` puts it together and says who may call what of the API.
"""
