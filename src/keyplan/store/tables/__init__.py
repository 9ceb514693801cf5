"""Tables as the store knows them: keys, descriptions, policies and removal."""
