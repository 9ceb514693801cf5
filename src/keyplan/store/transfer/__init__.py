"""Exports, imports and bulk operations: files in a local folder that stands in for the buckets of Amazon S3."""
