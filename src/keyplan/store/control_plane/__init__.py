"""Creates and updates tables, with schema rules, index backfill, tags and time to live."""
