"""Query and Scan: key bounds and pages."""
