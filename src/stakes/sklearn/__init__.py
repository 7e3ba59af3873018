"""scikit-learn's names and conventions, with intervals: ``from stakes.sklearn import f1_score``.

A function takes what its namesake in ``sklearn.metrics`` takes and gives the same number, as a float that also has
``.low``, ``.high`` and ``.reason``; ``strict=True`` gives the figure as stakes declares it. scikit-learn itself is not
loaded before an estimator or a display is used.

>>> from stakes.sklearn import recall_score
>>> found = recall_score([1, 1, 1, 1, 0, 0], [1, 1, 1, 0, 0, 1])
>>> float(found), round(found.low, 3), round(found.high, 3)
(0.75, 0.301, 0.954)
"""

import importlib
from typing import TYPE_CHECKING

from stakes.sklearn.names import FUNCTIONS as FUNCTIONS
from stakes.sklearn.names import HOMES, THEIRS

__all__ = sorted([*HOMES, *THEIRS])

if TYPE_CHECKING:
    from sklearn.metrics import check_scoring as check_scoring
    from sklearn.metrics import get_scorer as get_scorer
    from sklearn.metrics import get_scorer_names as get_scorer_names
    from sklearn.metrics import make_scorer as make_scorer

    from stakes.sklearn.decisions import *
    from stakes.sklearn.displays import *
    from stakes.sklearn.estimators import *
    from stakes.sklearn.labels import *
    from stakes.sklearn.probability import *
    from stakes.sklearn.ranking import *
    from stakes.sklearn.regression import *
    from stakes.sklearn.report import *
    from stakes.sklearn.scorers import *
    from stakes.sklearn.searches import *


def __getattr__(name: str) -> object:
    if name in __all__:
        home = f"stakes.sklearn.{HOMES[name]}" if name in HOMES else "sklearn.metrics"
        value: object = getattr(importlib.import_module(home), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'stakes.sklearn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
