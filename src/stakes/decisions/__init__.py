"""From scores to decisions: thresholds and policies by cost, calibration, recalibration, and curves."""
