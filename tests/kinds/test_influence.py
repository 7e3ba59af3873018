"""What one row or cluster changes in figures of labels, outputs, quantiles and forecasts: by leaving each out."""

from dataclasses import replace

import numpy as np
import pytest

import stakes
from stakes import metrics
from stakes.metrics.declare import FORMS
from stakes.tallies import ForecastSums, LabelSums, TermSums
from stakes.tallies.clusters import Clusters
from stakes.uncertainty.changes import groups_of, influences
from stakes.uncertainty.sampling import Sampling
from tests.kinds.rows import ROWS, N, take

AVERAGES = ("macro_f1", "micro_precision", "weighted_recall", "macro_jaccard", "micro_f_beta(beta=0.5)")
SCORED = ("macro_auc", "weighted_auc", "macro_average_precision", "macro_brier_score")
OUTPUTS = ("uniform_r2", "variance_weighted_r2", "variance_weighted_explained_variance", "uniform_rmse", "uniform_mape")
FIGURES = [metric for metric in metrics.catalogue() if issubclass(metric.tally, TermSums)]
FIGURES += [FORMS[LabelSums](metrics.find(name)) for name in (*AVERAGES, *SCORED)]
FIGURES += [metrics.find(name) for name in OUTPUTS]


def tally_of(metric, given):
    return stakes.count(**given).tallies[metric.tally.kind]


def without(metric, given, rows, tally):
    """The figure of other rows; forecasts keep the value before, and baselines the constants of all rows."""
    if isinstance(tally, TermSums):
        kept = type(tally).from_rows(tally.names, tally.rows.take(rows).columns, tally.rows.take(rows).weight)
        if "baseline" in metric.parts:
            always = tally.columns_ignoring(tally.rows, tally.names)
            ignoring = type(tally).from_rows(tally.names, {name: one[rows] for name, one in always.items()})
            kept = replace(kept, ignoring=ignoring.sums)
        return float(metric.of(kept))
    return float(metric.of(tally_of(metric, take(given, rows))))


@pytest.mark.parametrize("metric", FIGURES, ids=lambda metric: metric.text)
@pytest.mark.spread(18)
def test_influence_is_what_leaving_a_row_out_changes(metric):
    given = ROWS[metric.tally](n=N)
    tally = tally_of(metric, given)
    value = float(metric.of(tally))
    (found,) = influences([metric], [value], tally, Sampling())
    each = np.array([value - without(metric, given, np.arange(N) != row, tally) for row in range(N)])
    near = {"weighted_auc": 0.1, "micro_auc": 0.03, "micro_average_precision": 0.05}.get(metric.name, 1e-9)
    assert (found.changes**2).sum() == pytest.approx((each**2).sum(), rel=2 * near)
    assert found.changes == pytest.approx(each, rel=near, abs=max(near * np.abs(each).max(), 1e-12))


@pytest.mark.parametrize("metric", [m for m in FIGURES if m.changes is None], ids=lambda metric: metric.text)
def test_influence_is_what_leaving_a_weighted_cluster_out_changes(metric):
    groups = np.arange(N) % 7
    given = {**ROWS[metric.tally](n=N), "weight": np.random.default_rng(3).choice([0.5, 1, 3], N), "cluster": groups}
    tally = tally_of(metric, given)
    value = float(metric.of(tally))
    (found,) = influences([metric], [value], tally, Sampling(clusters=Clusters.of(groups)))
    if "baseline" in metric.parts:
        return  # its constants are those of all rows, weighted
    each = [value - without(metric, given, groups != group, tally) for group in range(7)]
    assert found.changes == pytest.approx(each, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("metric", [m for m in FIGURES if m.changes is None], ids=lambda metric: metric.text)
def test_sums_that_are_shared_keep_nearly_the_same_interval(metric):
    tally = tally_of(metric, ROWS[metric.tally](n=400))
    if not isinstance(tally, TermSums) or "baseline" in metric.parts:
        return
    value = float(metric.of(tally))
    own, shared = (influences([metric], [value], one, Sampling())[0] for one in (tally, tally.anonymise(10)))
    assert shared.error == pytest.approx(np.sqrt((own.changes**2).sum()), rel=0.05, abs=1e-9)


def test_very_many_rows_are_left_out_in_groups_that_tell_the_same_spread():
    metric = FORMS[LabelSums](metrics.macro_f1)
    tally = tally_of(metric, ROWS[LabelSums](n=30_000))
    groups, count = groups_of(tally, Sampling())
    assert count < len(groups) == 30_000
    value = float(metric.of(tally))
    (found,) = influences([metric], [value], tally, Sampling())
    few = tally_of(metric, ROWS[LabelSums](n=3_000))
    (exact,) = influences([metric], [float(metric.of(few))], few, Sampling())
    assert found.error == pytest.approx(exact.error / np.sqrt(10), rel=0.1)


def test_forecasts_have_a_tally_of_their_own_beside_errors():
    assert set(stakes.count(**ROWS[ForecastSums]()).tallies) == {"errors", "forecast"}


OF_TWO_COLUMNS = [metric for metric in FIGURES if metric.tally is not ForecastSums]


@pytest.mark.parametrize("metric", OF_TWO_COLUMNS, ids=lambda metric: metric.text)
def test_a_metric_called_on_columns_is_the_figure_of_the_evaluation(metric):
    given = ROWS[metric.tally](n=N)
    said = given["score"] if metric._column == "score" else given.get("quantiles", given.get("prediction"))
    weight = np.random.default_rng(4).choice([0.5, 1, 3], N)
    called = metrics.find(metric.text)(given["truth"], said, weight=weight)
    assert called == pytest.approx(stakes.evaluate(**given, weight=weight)[metric.text].value, rel=1e-12)
