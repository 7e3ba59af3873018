"""What can be expected of a study in place of a pilot."""

RATES = {
    "prevalence": "The share of positive rows that you expect.",
    "recall": "The recall that you expect.",
    "specificity": "The specificity that you expect.",
    "precision": "The precision that you expect.",
    "auc": "The auc that you expect.",
    "accuracy": "The accuracy that you expect.",
    "sd": "The standard deviation that you expect of the error of a row.",
    "logit_mean": "The mean that you expect of the logits of the probabilities, for the calibration slope.",
    "logit_sd": "Their standard deviation.",
}
"""The rates, and what each means."""

OBSERVED_EXPECTED = "observed_expected"
"""The number of positive rows over the sum of their probabilities: planned for, on the scale of its logarithm."""
