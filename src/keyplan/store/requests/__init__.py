"""What requests share: bound expressions, legacy parameters, and writes prepared from a request."""
