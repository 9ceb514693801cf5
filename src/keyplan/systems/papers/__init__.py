"""A paper catalogue: papers, authors, memberships and topics. Its design is in ``design.py``."""
