"""Estimators tested on rows that they were not fitted on, and against chance."""
