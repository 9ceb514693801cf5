"""The API's operations: the registry, request shapes and validation errors. No database logic, no I/O."""
