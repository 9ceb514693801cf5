"""A blog platform: users, posts, tags, impressions, messages. Its design is in ``design.py``."""
