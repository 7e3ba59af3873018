"""Estimators judged on rows that they have not seen, and against chance."""
