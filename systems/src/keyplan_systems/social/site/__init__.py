"""The social network's site: feed, posts, profiles, messages. ``making`` assembles it, and authorizes API calls."""
