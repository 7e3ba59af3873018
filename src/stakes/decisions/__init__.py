"""From scores to decisions: curves over thresholds, costs and rejected cases, and histograms of scores."""
