"""Curves over thresholds, costs and rejections, and how scores are spread."""
