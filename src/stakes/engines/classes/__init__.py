"""Probabilities of several classes: read from whatever holds them, and counted in batches or in another engine."""
