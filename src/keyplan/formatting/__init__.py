"""What people and other programs see of a design's values: as JSON, as texts typed on a command line or in an address,
and in tables of Markdown. REST and the command line share it; how DynamoDB stores a value is another matter.
"""
