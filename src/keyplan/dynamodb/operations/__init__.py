"""The API's operations: the registry, request shapes and validation errors, without database logic or I/O."""
