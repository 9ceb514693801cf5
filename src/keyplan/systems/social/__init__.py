"""A social network: users, posts, comments, likes, follows, messages. Its design is in ``design.py``."""
