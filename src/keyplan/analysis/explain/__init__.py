"""Shows the exact requests of a pattern, determined without a store, and why the pattern needs no scan."""
