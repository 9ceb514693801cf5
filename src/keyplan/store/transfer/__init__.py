"""Exports, imports and bulk operations, with a local folder in place of Amazon S3 buckets."""
