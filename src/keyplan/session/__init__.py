"""Opening stores: the Design base class, stores, and transactions across designs."""
