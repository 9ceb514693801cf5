"""Global tables: replicas, their backfill, consistency and auto scaling."""
