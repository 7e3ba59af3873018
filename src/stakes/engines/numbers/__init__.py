"""Predicted numbers, too many to be kept: added up where they lie, in batches, partitions or another engine."""
