"""The pages, one module per subject. Each handler is a function of a Turn; ``application`` has the URLs."""
