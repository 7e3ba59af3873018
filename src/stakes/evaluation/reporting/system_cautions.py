"""What a careful colleague would point out about the figures of a system."""

from collections.abc import Iterator

import numpy as np

from stakes.evaluation.cautions import FEW_ROWS
from stakes.evaluation.reporting import Part
from stakes.evaluation.reporting.system_study import Study
from stakes.systems.bootstrap import RATES_ONLY
from stakes.views.report.payload import MOST, named, said


def system_cautions(study: Study) -> list[Part]:
    """Return all that applies, as sentences of the catalogue."""
    found = (_of_dependence, _of_rules, _of_errors, _of_seeing, _of_size)
    return [sentence for each in found for sentence in each(study)][:MOST]


def _of_dependence(study: Study) -> Iterator[Part]:
    models = study.system.network.models
    tables = [name for name, model in models.items() if not model.by_rows]
    if tables and len(models) > 1:
        yield said("system.caution_independent")
    if study.together is None and len(tables) > 1 and len(models) > 2:
        yield said("system.caution_together")


def _of_rules(study: Study) -> Iterator[Part]:
    fusion = study.system.network.fusion
    if fusion.ties:
        yield said("system.caution_ties", order=", ".join(map(named, fusion.terms.letters[:MOST])))
    listened = {name for rule in fusion.rules.values() for name in rule.names()}
    listened |= {name for model in study.system.network.models.values() for name in model.sees}
    for name in study.names:
        if name not in listened:
            yield said("system.caution_unheard", model=name)


def _of_errors(study: Study) -> Iterator[Part]:
    rounding = 1e-9 * float(np.abs(study.system.network.prices).max())
    for name, costs in study.costs.items():
        if min(costs.right) < 0:
            yield said("system.caution_right", model=name)
        elif costs.known and np.nanmin(costs.excess, initial=0.0) < -rounding:
            yield said("system.caution_helps", model=name)


def _of_seeing(study: Study) -> Iterator[Part]:
    network = study.system.network
    for name, costs in study.costs.items():
        later = network.later(name)
        if not costs.known:
            yield said("system.caution_range", model=name, other=later[0])
        elif later and network.rows is not None and network.shared is False:
            yield said("system.caution_shared", model=name, other=later[0])


def _of_size(study: Study) -> Iterator[Part]:
    network = study.system.network
    if study.system._bootstrap.reason:
        yield said("system.caution_rates" if study.system._bootstrap.reason == RATES_ONLY else "system.caution_draws")
    for name in study.names:
        counts = network.models[name].counts
        if counts is not None:
            sizes = counts.sum((1, 2))
            least = int(np.argmin(sizes))
            if sizes[least] < FEW_ROWS:
                yield said("system.caution_few", n=float(sizes[least]), model=name, truth=network.classes[least])
