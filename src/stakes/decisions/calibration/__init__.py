"""How honest probabilities are."""
