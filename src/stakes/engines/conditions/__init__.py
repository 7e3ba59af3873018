"""where=: the rows that a condition such as ``site = 'A' AND age > 60`` keeps, the same in every engine."""
