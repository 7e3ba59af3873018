"""docs/migrating/same_names.md: the functions of scikit-learn that ``stakes.sklearn`` has, made from its table."""

import json
import tomllib
from pathlib import Path

from stakes.sklearn.names import DISPLAYS, ESTIMATORS, NAMES

TESTS = Path(__file__).parents[2] / "tests" / "sklearn_face"

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
        f"| `{name}` | {_figures(entry.ours)} | {_of(counts.get(name))} | {entry.differs} |"
        for name, entry in sorted(NAMES.items())
    ]
    estimators, displays = (", ".join(f"`{name}`" for name in names) for names in (ESTIMATORS, DISPLAYS))
    head = _HEAD.format(total=total, passed=passed, differs=differs)
    foot = _FOOT.format(estimators=estimators, displays=displays)
    return {"migrating/same_names.md": head + "\n".join(rows) + "\n" + foot}


def _figures(names: str) -> str:
    return ", ".join(f"`{name}`" for name in names.split(", ")) if names else "—"


def _of(count: list[int] | None) -> str:
    return "—" if count is None else f"{count[0]} of {count[1]}"
