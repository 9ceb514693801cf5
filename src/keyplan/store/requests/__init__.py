"""Parts that requests share: bound expressions, legacy parameters, and prepared writes."""
