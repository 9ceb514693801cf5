"""How entities are stored: an instance as an item and back, values as attributes, and values as keys."""
