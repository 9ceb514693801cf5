"""The base class of designs, the stores that designs are opened on, and transactions across designs."""
