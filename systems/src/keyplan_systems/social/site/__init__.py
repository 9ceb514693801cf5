"""The social network's site: feed, posts, profiles, messages. ``making`` puts it together and says who may call what of
the API.
"""
