"""Tests of the planner, which plans keys from access patterns."""
