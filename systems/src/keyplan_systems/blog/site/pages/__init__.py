"""The pages, one file a subject. Each handler is a function of a Turn; addresses are given in ``application.py``."""
