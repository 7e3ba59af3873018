"""docs/migrating/same_names.md: the functions of scikit-learn that ``stakes.sklearn`` has, and which figure each is."""

import json
import tomllib
from pathlib import Path

from stakes.sklearn import FUNCTIONS, HOMES

TESTS = Path(__file__).parents[2] / "tests" / "sklearn_face"

_UNDEFINED = "`strict=True`: undefined stays undefined"
_ONE_OUTPUT = "outputs weighted by hand have no interval"

FIGURES = {
    "accuracy_score": ("accuracy", ""),
    "balanced_accuracy_score": ("balanced_accuracy", f"{_UNDEFINED} where a class has no rows"),
    "class_likelihood_ratios": (
        "positive_likelihood_ratio, negative_likelihood_ratio",
        "`strict=True`: x/0 is infinite",
    ),
    "classification_report": ("precision, recall, f1, accuracy", "the averages of `output_dict=True` have intervals"),
    "cohen_kappa_score": ("kappa, linear_kappa, quadratic_kappa", ""),
    "confusion_matrix": ("stakes.Confusion", ""),
    "f1_score": ("f1", _UNDEFINED),
    "fbeta_score": ("f_beta", _UNDEFINED),
    "hamming_loss": ("hamming_loss, accuracy", "1 − accuracy of single labels"),
    "jaccard_score": ("jaccard", _UNDEFINED),
    "matthews_corrcoef": ("mcc", _UNDEFINED),
    "multilabel_confusion_matrix": ("stakes.Confusion", ""),
    "precision_recall_fscore_support": ("precision, recall, f_beta", _UNDEFINED),
    "precision_score": ("precision", _UNDEFINED),
    "recall_score": ("recall", _UNDEFINED),
    "zero_one_loss": ("accuracy", "1 − accuracy"),
    "brier_score_loss": ("brier_score, multiclass_brier_score", ""),
    "d2_brier_score": ("normalised_brier_score, normalised_multiclass_brier_score", "1 − it"),
    "d2_log_loss_score": ("normalised_log_loss, normalised_multiclass_log_loss", "1 − it; `strict=True` does not clip"),
    "hinge_loss": ("", "the mean over rows has an interval"),
    "log_loss": ("log_loss, multiclass_log_loss", "`strict=True` does not clip"),
    "dcg_score": ("", "the mean over rows has an interval; `stakes rank --measure dcg` ranks by it"),
    "ndcg_score": ("", "the mean over rows has an interval; `stakes rank --measure ndcg` ranks by it"),
    "auc": ("", "the area under any curve, a plain float"),
    "average_precision_score": ("average_precision", "no positive rows: 0, and `.reason`"),
    "confusion_matrix_at_thresholds": ("stakes.ScoreTable", ""),
    "det_curve": ("stakes.ScoreTable", ""),
    "metric_at_thresholds": ("", ""),
    "precision_recall_curve": ("stakes.ScoreTable", ""),
    "roc_auc_score": ("auc, partial_auc, macro_auc, weighted_auc, micro_auc, hand_till_auc", ""),
    "roc_curve": ("stakes.ScoreTable", ""),
    "top_k_accuracy_score": ("top_k_accuracy", "`strict=True`: of ties the first class goes first"),
    "coverage_error": ("coverage_error", ""),
    "label_ranking_average_precision_score": ("label_ranking_average_precision", ""),
    "label_ranking_loss": ("label_ranking_loss", ""),
    "d2_absolute_error_score": ("pinball", "no interval"),
    "d2_pinball_score": ("pinball", "no interval"),
    "d2_tweedie_score": ("d2_poisson, d2_gamma, d2_tweedie", "none below power 1 but 0"),
    "explained_variance_score": (
        "explained_variance",
        f"{_UNDEFINED}; exact at offsets and sizes at which scikit-learn loses digits",
    ),
    "max_error": ("max_error", ""),
    "mean_absolute_error": ("mean_absolute_error", _ONE_OUTPUT),
    "mean_absolute_percentage_error": ("mean_absolute_percentage_error", f"{_UNDEFINED} where a truth is 0"),
    "mean_gamma_deviance": ("gamma_deviance", ""),
    "mean_pinball_loss": ("pinball", _ONE_OUTPUT),
    "mean_poisson_deviance": ("poisson_deviance", ""),
    "mean_squared_error": ("mean_squared_error", _ONE_OUTPUT),
    "mean_squared_log_error": ("mean_squared_log_error", _ONE_OUTPUT),
    "mean_tweedie_deviance": ("tweedie_deviance", ""),
    "median_absolute_error": ("median_absolute_error", _ONE_OUTPUT),
    "r2_score": ("r2", f"{_UNDEFINED}; exact at offsets and sizes at which scikit-learn loses digits"),
    "root_mean_squared_error": (
        "root_mean_squared_error",
        f"{_ONE_OUTPUT}; a number where its square is beyond floats",
    ),
    "root_mean_squared_log_error": ("mean_squared_log_error", "several outputs have no interval"),
}
"""The declared figures behind each function, and what differs on purpose."""

_HEAD = """# scikit-learn's names, with intervals

One changed import line keeps code that uses `sklearn.metrics` as it is, and every number tells how sure it is:

```python
from stakes.sklearn import f1_score  # was: from sklearn.metrics import f1_score

found = f1_score([1, 1, 1, 0, 0, 0, 1, 0], [1, 1, 0, 0, 0, 1, 1, 0])
found == 0.75  # True: a float like any other
found.low, found.high  # the 95 % interval, worked out when it is asked for
found.reason  # why it is undefined, if it is; the number then follows scikit-learn
found.estimate  # all of it: baseline, method, notes
```

Arrays (curves, tables, `average=None`) are plain arrays. A pickled copy, and what scikit-learn keeps of a score, is the
number alone. `import stakes.sklearn` does not load scikit-learn; estimators do.

**Values and conventions are scikit-learn's**, `zero_division=`, clipped probabilities and all. `strict=True` gives
stakes' own: undefined stays undefined, log loss is not clipped. Errors are of scikit-learn's types (`ValueError`,
`TypeError`), in one line of our words; undefined figures warn with its `UndefinedMetricWarning` where it is loaded.
Series with different indexes are paired by position, as there, with a warning.

**Where scikit-learn's number is wrong, ours stands:**

- Ratios of counts and areas under ROC curves are rounded once; scikit-learn's can differ in the last digit.
- R² and explained variance keep their digits far from 0: for 200 truths within some 10⁻⁶ of 10⁹, scikit-learn's R² is
  0.95395 where 0.95359 is right.
- Unsigned numbers do not wrap: scikit-learn's `max_error` of `uint8` truths 1 and predictions 2 is 255.
- Errors of 10²⁰⁰ have a root mean squared error, an R² and an explained variance; scikit-learn says inf and NaN.
- Truths that are all 0.1 have no spread, and an R² of 0 as its convention says; scikit-learn says some −10³⁴.
- Weights below 0 count in means over rows; a precision, an area or an R² with them is refused, where scikit-learn can
  say an average precision of 99.

**Speed.** At 10 to 10⁷ rows the median function takes about a tenth of scikit-learn's time. Of 247 cells measured on a
busy machine one took longer than two thirds of it, and four did until they were measured again by themselves;
39 are of an earlier release (`bench/FACE.md` has all).

**The judge is scikit-learn.** Its own installed tests of metrics (1.9) run against these functions: of {total:,} tests
that call one of them {passed:,} pass, whatever the words of errors and warnings. Those that do not:

{differs}

| scikit-learn | figure of stakes | tests passed | what differs on purpose |
|---|---|---|---|
"""

_FOOT = """
## Estimators

{estimators} wrap a classifier that has `predict_proba`; all pass `check_estimator`.

```python
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from stakes.sklearn import CostClassifier, RejectClassifier

X, y = load_breast_cancer(return_X_y=True)
X = X[:, :4] / X[:, :4].max(axis=0)
model = CostClassifier(LogisticRegression(), costs=[[0, 20], [1, 0]]).fit(X, y)  # 0 is malignant
model.predict(X)  # the cheapest decision for each row
model.decision_.cost  # what that costs per case on rows out of fold, with its interval
RejectClassifier(LogisticRegression(), reject_cost=0.1).fit(X, y).predict(X)  # abstains where it says −1
```

Costs are a matrix of classes × decisions, of any number of either. `method="threshold"` takes the threshold that
costs least on rows out of fold, `calibrate=` recalibrates on them first. Costs that differ by row go to `fit` and
`predict` as `costs=`, rows × classes × decisions, and are routed as metadata (`set_fit_request(costs=True)`).

Are they better than `TunedThresholdClassifierCV`? In the gallery, mean costs on rows that neither had seen:

- **Not** for a logistic regression on tumours: 0.52 against 0.49 per patient, which ten splits cannot tell apart.
- For naive Bayes on tumours, whose probabilities are not honest: 0.52 recalibrated, 0.55 with `method="threshold"`,
  0.97 by the probabilities as they stand, against 0.62.
- For payments of different amounts: 1.58 with one threshold, 1.21 with the costs of each payment, against 1.61.

## Scorers and displays

`make_scorer` takes these functions. `interval_scorer(roc_auc_score, response_method="predict_proba")` gives
`cross_validate` and searches `score`, `low` and `high` for each fold. {displays} have
`from_predictions` and `from_estimator`, take scikit-learn's words and have its numbers as attributes; curves have
bands, bins and cells intervals.
"""


def pages() -> dict[str, str]:
    """Return the page."""
    counts = json.loads((TESTS / "counts.json").read_text(encoding="utf-8"))
    passed, total = counts["all tests"]
    listed = tomllib.loads((TESTS / "differs.toml").read_text(encoding="utf-8"))
    differs = "\n".join(f"- `{test}`: {why}" for tests in listed.values() for test, why in tests.items())
    rows = [
        f"| `{name}` | {_figures(FIGURES[name][0])} | {_of(counts.get(name))} | {FIGURES[name][1]} |"
        for name in sorted(FUNCTIONS)
    ]
    estimators, displays = (", ".join(map("`{}`".format, _of_module(home))) for home in ("estimators", "displays"))
    head = _HEAD.format(total=total, passed=passed, differs=differs)
    foot = _FOOT.format(estimators=estimators, displays=displays)
    return {"migrating/same_names.md": head + "\n".join(rows) + "\n" + foot}


def _of_module(home: str) -> list[str]:
    return [name for name, where in HOMES.items() if where == home]


def _figures(names: str) -> str:
    return ", ".join(f"`{name}`" for name in names.split(", ")) if names else "—"


def _of(count: list[int] | None) -> str:
    return "—" if count is None else f"{count[0]} of {count[1]}"
