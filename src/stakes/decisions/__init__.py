"""From scores to decisions: curves over thresholds."""
