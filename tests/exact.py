"""Exact arithmetic for tests: formulas of the declarations run on fractions, far from the code they check."""

import ast
import functools
import itertools
import math
from collections.abc import Mapping
from fractions import Fraction
from types import CodeType
from typing import Any

import numpy as np
import scipy.optimize
import scipy.special

_SCALE = 10**80


def divide(a: Any, b: Any) -> Any:
    """x/0 is infinite, 0/0 and anything with NaN is NaN."""
    if any(isinstance(v, float) and math.isnan(v) for v in (a, b)):
        return math.nan
    if b == 0:
        return math.nan if a == 0 else math.inf
    if isinstance(b, float) and math.isinf(b):
        return math.nan if isinstance(a, float) and math.isinf(a) else Fraction(0)
    return a / b


def sqrt(x: Any) -> Any:
    """The root: exact where it is a fraction, otherwise eighty digits."""
    if isinstance(x, float) and not math.isfinite(x):
        return x
    x = Fraction(x)
    top, bottom = math.isqrt(x.numerator), math.isqrt(x.denominator)
    if top * top == x.numerator and bottom * bottom == x.denominator:
        return Fraction(top, bottom)
    return Fraction(math.isqrt(int(Fraction(x) * _SCALE * _SCALE)), _SCALE)


class _Divisions(ast.NodeTransformer):
    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Div):
            return ast.Call(ast.Name("divide", ast.Load()), [node.left, node.right], [])
        return node


@functools.cache
def _compiled(formula: str) -> CodeType:
    tree = ast.fix_missing_locations(_Divisions().visit(ast.parse(formula, mode="eval")))
    return compile(tree, formula, "eval")


def run(formula: str, names: Mapping[str, Any]) -> Any:
    """Execute the text of a formula."""
    return eval(_compiled(formula), {"divide": divide, "sqrt": sqrt, **names})


def of_cells(tp: Any, fn: Any, fp: Any, tn: Any, **parameters: Any) -> dict[str, Any]:
    """The names that formulas of confusion metrics use."""
    tp, fn, fp, tn = map(Fraction, (tp, fn, fp, tn))
    P, N, PP, PN = tp + fn, fp + tn, tp + fp, fn + tn
    n = P + N
    rates = {
        "TPR": (tp, P),
        "FNR": (fn, P),
        "FPR": (fp, N),
        "TNR": (tn, N),
        "PPV": (tp, PP),
        "FDR": (fp, PP),
        "FOR": (fn, PN),
        "NPV": (tn, PN),
        "Po": (tp + tn, n),
        "Pe": (P * PP + N * PN, n * n),
    }
    names = {"tp": tp, "fn": fn, "fp": fp, "tn": tn, "P": P, "N": N, "PP": PP, "PN": PN, "n": n}
    names |= {"cells": [(1, 1, tp), (1, 0, fn), (0, 1, fp), (0, 0, tn)], "truths": [(0, N), (1, P)]}
    names["decisions"] = [(0, PN), (1, PP)]
    fractions = {k: Fraction(v) for k, v in parameters.items()}
    return {**names, **{name: divide(a, b) for name, (a, b) in rates.items()}, **fractions}


def of_rows(truth: Any, score: Any, **parameters: Any) -> dict[str, Any]:
    """The names that formulas of score metrics use, by brute force over rows."""
    rows = [(Fraction(s), int(y)) for s, y in zip(score, truth, strict=True)]
    positives = [p for p, y in rows if y]
    negatives = [p for p, y in rows if not y]
    thresholds = sorted({p for p, _ in rows}, reverse=True)
    P, N, n = len(positives), len(negatives), len(rows)

    def tpr(t: Any) -> Any:
        return divide(Fraction(sum(p >= t for p in positives)), P)

    def fpr(t: Any) -> Any:
        return divide(Fraction(sum(p >= t for p in negatives)), N)

    def precision(t: Any) -> Any:
        hits = sum(p >= t for p in positives)
        return divide(Fraction(hits), hits + sum(p >= t for p in negatives))

    def above(t: Any) -> Any:
        return min((u for u in thresholds if u > t), default=math.inf)

    def area(limit: Any) -> Any:
        """The area under the ROC polygon from 0 to limit."""
        points = [(Fraction(0), Fraction(0)), *((fpr(t), tpr(t)) for t in thresholds)]
        whole = Fraction(0)
        for (x0, y0), (x1, y1) in itertools.pairwise(points):
            stop = min(x1, limit)
            if stop > x0:
                at_stop = y0 + (y1 - y0) * (stop - x0) / (x1 - x0)
                whole += (stop - x0) * (y0 + at_stop) / 2
        return whole

    def found_in_top(k: Any) -> Any:
        found, left = Fraction(0), Fraction(k)
        for t in thresholds:
            tied = [y for p, y in rows if p == t]
            taken = min(left, len(tied))
            found += Fraction(sum(tied), len(tied)) * taken
            left -= taken
        return found if left <= 0 else math.nan

    def tp_at(t: Any) -> Fraction:
        return Fraction(sum(p >= t for p in positives))

    def fp_at(t: Any) -> Fraction:
        return Fraction(sum(p >= t for p in negatives))

    def log_odds() -> list[tuple[float, int]]:
        """Probabilities of 0 and 1 are read as half as far from there as the nearest of the others."""
        near = [min(p, 1 - p) for p, _ in rows if 0 < p < 1]
        least = min(near) / 2 if near else Fraction(1, 2 * len(thresholds) + 2)
        inside = [(min(max(p, least), 1 - least), y) for p, y in rows]
        return [(math.log(p) - math.log(1 - p), y) for p, y in inside]

    def line_of_log_odds() -> Any:
        """Intercept and slope of a logistic regression, by somebody else's search."""
        x, y = (np.array(column, float) for column in zip(*log_odds(), strict=True))
        scale = np.abs(x).max() or 1.0

        def loss(at: Any) -> Any:
            logits = at[0] + at[1] * x / scale
            off = scipy.special.expit(logits) - y
            return np.logaddexp(0, logits).sum() - y @ logits, np.array([off.sum(), off @ x / scale])

        def curve(at: Any) -> Any:
            p = scipy.special.expit(at[0] + at[1] * x / scale)
            columns = np.stack([np.ones(len(x)), x / scale])
            return (columns * (p * (1 - p))) @ columns.T

        found = scipy.optimize.minimize(loss, [0.0, 1.0], jac=True, hess=curve, method="trust-exact", tol=1e-12).x
        return found[0], found[1] / scale

    def shift_of_log_odds() -> float:
        x, y = (np.array(column, float) for column in zip(*log_odds(), strict=True))
        return scipy.optimize.brentq(lambda a: scipy.special.expit(x + a).sum() - y.sum(), -2000, 2000, xtol=1e-13)

    def bins_of_equal_width(bins: int) -> list[list[Any]]:
        groups: dict[int, list[Any]] = {}
        for p, y in rows:
            groups.setdefault(max(j for j in range(int(bins)) if j == 0 or p >= Fraction(j / bins)), []).append((p, y))
        return list(groups.values())

    def bins_of_equal_mass(bins: int) -> list[list[Any]]:
        groups: dict[int, list[Any]] = {}
        for p, y in rows:
            before = sum(q > p for q, _ in rows)
            groups.setdefault(before * int(bins) // n, []).append((p, y))
        return list(groups.values())

    def log(x: Any) -> Any:
        return -math.inf if x == 0 else math.log1p(float(x - 1)) if x > Fraction(1, 2) else math.log(x)

    rates = ("precision", "recall", "specificity")
    wanted = next((parameters[name] for name in rates if name in parameters), None)
    return {
        "inf": math.inf,
        **{k: v for k, v in locals().items() if k not in ("truth", "score", "parameters")},
        **{k: v for k, v in parameters.items() if k not in rates},
        **({"max_fpr": Fraction(parameters["max_fpr"])} if "max_fpr" in parameters else {}),
        "wanted": wanted and Fraction(str(wanted)),
    }
