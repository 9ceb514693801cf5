"""Tables: keys, descriptions, policies and removal."""
