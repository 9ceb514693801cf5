"""A shop: users, orders, stock, events, readings, related products. Its design is in ``design.py``."""
