"""Creating and updating tables: schema rules, index backfill, tags, time to live."""
