"""Scores turned into honest probabilities."""
