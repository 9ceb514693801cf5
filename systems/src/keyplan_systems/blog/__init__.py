"""A blog platform: users, posts, tags, impressions, messages. ``design`` has the design."""
