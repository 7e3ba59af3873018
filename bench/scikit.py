"""The calls that scikit-learn needs for what one evaluation of stakes answers."""

import numpy as np
import sklearn.metrics as sk

OF_DECISIONS = (
    sk.confusion_matrix,
    sk.accuracy_score,
    sk.precision_score,
    sk.recall_score,
    sk.f1_score,
    sk.balanced_accuracy_score,
    sk.matthews_corrcoef,
    sk.cohen_kappa_score,
)
OF_SCORES = (sk.roc_auc_score, sk.average_precision_score, sk.log_loss)


def figures(truth: np.ndarray, decided: np.ndarray, score: np.ndarray | None = None) -> None:
    """Eight calls on decisions, and three more if there are scores."""
    for function in OF_DECISIONS:
        function(truth, decided)
    if score is not None:
        for function in OF_SCORES:
            function(truth, score)
