"""Implements the replicas of global tables, with their backfill, consistency and auto scaling."""
