"""Where to put the thresholds of a score, and what that costs on rows that did not choose them."""
