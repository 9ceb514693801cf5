"""Creating and changing tables: schema rules, index backfill, tags, time to live."""
