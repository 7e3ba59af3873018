"""Clusters of rows that are not kept: their rows are counted by group, in batches or in another engine."""
