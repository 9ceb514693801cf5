"""Creates reports about a design: check, cost, explain, diff, traffic and the analysis of writes."""
