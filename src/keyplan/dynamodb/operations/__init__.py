"""Operations of the protocol: the table of operations, request shapes and their errors. No database logic, no I/O."""
