"""The only code that sees rows: it turns columns into tallies."""
