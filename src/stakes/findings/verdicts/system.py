"""The verdict on a system: what it costs, whose mistakes, what to improve first, and what nobody knows.

A :class:`Study` holds every figure that its page is written from, worked out once.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stakes.evaluation.cautions import FEW_ROWS
from stakes.findings.verdicts.answers import MOST, in_order
from stakes.language.sentences import Chip, Finding, Sentence, Tone, answer, caution, sentence, short_name
from stakes.systems.bootstrap import RATES_ONLY
from stakes.systems.bounds import Bounds
from stakes.systems.component_costs import ComponentCosts
from stakes.systems.system import System
from stakes.systems.worth import ModelWorth


@dataclass(frozen=True, eq=False)
class Study:
    """A system and its figures; of very many models the first ones."""

    system: System

    @property
    def names(self) -> list[str]:
        """The models that are shown."""
        return list(self.system.models)[:MOST]

    @property
    def per_thousand(self) -> float:
        """What turns a cost of all cases into that of 1,000 cases."""
        return 1000 / float(self.system.network.cases.sum())

    @property
    def cost(self) -> float:
        """What 1,000 cases cost."""
        return self.per_thousand * self.system.cost

    @cached_property
    def limits(self) -> tuple[float, float] | None:
        """The ends of its interval; None where nothing varies."""
        found = self.system.cost_limits
        if found is None or found[1] - found[0] <= 1e-12 * abs(found[1]):
            return None
        return self.per_thousand * found[0], self.per_thousand * found[1]

    @cached_property
    def constant(self) -> tuple[str, float]:
        """The cheapest decision for everybody, and what it costs for 1,000 cases."""
        decision, cost = self.system.network.cheapest_constant()
        return decision, self.per_thousand * cost

    @cached_property
    def costs(self) -> dict[str, ComponentCosts]:
        """What the answers of each model cost."""
        return {name: self.system.component_costs(name) for name in self.names}

    @cached_property
    def bounds(self) -> dict[str, Bounds]:
        """Between what the system's cost lies, whatever the dependence of each model on the others."""
        return {name: self.system.bounds(name) for name in self.names}


def verdict_of(system: System) -> tuple[Finding, ...]:
    """Return the questions with their answers, and what a careful colleague would point out."""
    study = Study(system)
    answers = [_cost(study), _cheaper(study), _whose(study), _first(study), _dependence(study)]
    return in_order(answers, _cautions(study))


def _chip(label: str, value: float, limits: tuple[float, float] | None = None) -> Chip:
    """A figure beside an answer."""
    low, high = limits or (None, None)
    return Chip("cost", value, low, high, label=sentence(label), format="cost")


# ── what does it cost? ───────────────────────────────────────────────────────────────────────────────────────────
def _cost(study: Study) -> Finding:
    words = [sentence("system.cost_is", cost=study.cost)]
    if study.limits is not None:
        low, high = study.limits
        words.append(sentence("system.cost_interval", low=low, high=high, confidence=study.system.sampling.confidence))
    if not study.system.per_case:
        words.append(sentence("system.cost_total", cost=study.system.cost, n=float(study.system.network.cases.sum())))
    figures = [_chip("system.per_thousand", study.cost, study.limits)]
    return answer("system.cost_question", "note", *words, figures=figures)


# ── is it cheaper than one decision for everybody? ───────────────────────────────────────────────────────────────
def _cheaper(study: Study) -> Finding:
    decision, always = study.constant
    names = {"decision": decision, "always": always, "saved": always - study.cost, "more": study.cost - always}
    low, high = study.limits or (study.cost, study.cost)
    alike = abs(study.cost - always) <= 1e-9 * abs(always)
    tone: Tone
    if alike or low <= always <= high:
        words, tone = sentence("system.cheaper_alike" if alike else "system.cheaper_unsure", **names), "doubt"
    elif study.cost < always:
        words, tone = sentence("system.cheaper_yes", **names), "good"
    else:
        words, tone = sentence("system.cheaper_no", **names), "bad"
    figures = [_chip("system.chip_system", study.cost, study.limits), _chip("system.chip_constant", always)]
    return answer("system.cheaper_question", tone, words, *_without(study), figures=figures)


def _without(study: Study) -> list[Sentence]:
    """Whether the system would already be cheaper without one of its models."""
    enough = study.system.worth().now - 1e-9 * abs(study.system.worth().now)
    spared = [one for one in study.system.worth().models.values() if one.constant < enough]
    if not spared:
        return []
    best = min(spared, key=lambda one: one.constant)
    cost = study.per_thousand * best.constant
    return [sentence("system.cheaper_without", model=best.model, answer=best.constant_answer, cost=cost)]


# ── whose mistakes cost most? ────────────────────────────────────────────────────────────────────────────────────
def _whose(study: Study) -> Finding:
    question = "system.whose_question"
    paid = {name: one.excess_evaluation for name, one in study.costs.items() if one.known and min(one.right) >= 0}
    if not paid:
        return answer(question, "open", sentence("system.whose_unknown"))
    worst = max(paid, key=lambda name: paid[name])
    most = study.per_thousand * paid[worst]
    if most <= 1e-12 * abs(study.cost):
        return answer(question, "note", sentence("system.whose_nobody"))
    alike = [name for name, cost in paid.items() if cost >= paid[worst] * (1 - 1e-9)]
    key = "system.whose_model" if len(alike) == 1 else "system.whose_alike"
    words = [sentence(key, model=worst, models=_named_together(alike), cost=most), _dearest(study, study.costs[worst])]
    others = sorted((name for name in paid if name not in alike), key=lambda name: -paid[name])
    if others:
        words.append(sentence("system.whose_next", model=others[0], cost=study.per_thousand * paid[others[0]]))
    return answer(question, "note", *words)


def _named_together(names: Sequence[str]) -> str:
    return ", ".join(map(short_name, names[:5])) + (" …" if len(names) > 5 else "")


def _dearest(study: Study, costs: ComponentCosts) -> Sentence:
    """The answer of a model that costs most, by how often it happens and by how much it costs more than being right."""
    said_so = costs.cases[:, None, None] * costs.seen_shares[..., None] * np.nan_to_num(costs.rates)
    excess = np.nan_to_num(np.reshape(costs.excess, said_so.shape))
    c, _, j = place = np.unravel_index(np.argmax(said_so * excess), said_so.shape)
    return sentence(
        "system.whose_dearest",
        model=costs.model,
        answer=costs.outputs[j],
        truth=costs.classes[c],
        times=study.per_thousand * said_so[place],
        excess=excess[place],
    )


# ── which model first? ───────────────────────────────────────────────────────────────────────────────────────────
def _first(study: Study) -> Finding:
    question, worth = "system.first_question", study.system.worth()
    unknown = [one for one in worth.models.values() if math.isnan(one.saving)]
    names = _named_together([one.model for one in unknown])
    left_out = [sentence("system.first_left_out", models=names)] if unknown else []
    if len(unknown) == len(worth.models):
        return answer(question, "open", sentence("system.first_unknown"))
    first = worth.first
    if first is None:
        ends = [one.saving_limits[1] for one in worth.models.values() if one.saving_limits is not None]
        most = study.per_thousand * max(ends, default=0.0)
        unseen = [sentence("system.first_not_excluded", saving=most)] if most > 0 else []
        return answer(question, "note", sentence("system.first_none"), *unseen, *left_out)
    key = "system.first_model" if len(worth.as_good) == 1 else "system.first_alike"
    alike: Sequence[str] = worth.as_good
    tone: Tone = "note"
    if worth.rivals:
        key, alike, tone = "system.first_unsure", [first.model, *worth.rivals], "doubt"
    saving, perfect = study.per_thousand * first.saving, study.per_thousand * first.perfect
    lead = sentence(key, model=first.model, models=_named_together(alike), saving=saving, perfect=perfect)
    figures = [_chip("system.chip_now", study.cost), _chip("system.chip_perfect", perfect)]
    if first.saving_limits is not None:
        low, high = (study.per_thousand * end for end in first.saving_limits)
        figures.append(_chip("system.chip_saving", saving, (low, high)))
    return answer(question, tone, lead, _at_most(study, first), *left_out, figures=figures)


def _at_most(study: Study, first: ModelWorth) -> Sentence:
    if first.right_is_cheapest:
        return sentence("system.first_at_most")
    return sentence("system.first_cheapest", saving=study.per_thousand * (first.now - first.cheapest))


# ── how much depends on the dependence? ──────────────────────────────────────────────────────────────────────────
def _dependence(study: Study) -> Finding:
    network = study.system.network
    if all(model.by_rows for model in network.models.values()):
        return _dependence_in_rows(study)
    question = "system.dependence_question"
    widest = study.system.bounds_together
    if widest is None or math.isnan(widest.best):
        open_models = [name for name in study.names if not network.models[name].by_rows]
        widest = max((study.bounds[name] for name in open_models or study.names), key=lambda one: one.worst - one.best)
    best, worst = study.per_thousand * widest.best, study.per_thousand * widest.worst
    if worst - best <= 1e-9 * abs(worst):
        return answer(question, "good", sentence("system.dependence_nothing"))
    lead = sentence("system.dependence_range", best=best, worst=worst)
    why = (
        sentence("system.dependence_all")
        if widest.model is None
        else sentence("system.dependence_one", model=widest.model)
    )
    assumed = sentence("system.dependence_assumed", cost=study.cost)
    tone, compared = _against_constant(study, best, worst)
    figures = [_chip("system.chip_range", study.cost, (best, worst))]
    return answer(question, tone, lead, why, assumed, compared, figures=figures)


def _against_constant(study: Study, best: float, worst: float) -> tuple[Tone, Sentence]:
    """Whether the comparison with one decision for everybody hangs on the dependence."""
    decision, always = study.constant
    values = {"decision": decision, "always": always}
    if worst < always:
        return "good", sentence("system.dependence_cheaper", **values)
    if best >= always:
        return "note", sentence("system.dependence_dearer", **values)
    return "doubt", sentence("system.dependence_decides", **values)


def _dependence_in_rows(study: Study) -> Finding:
    question = "system.dependence_question"
    independent = study.per_thousand * study.system.network.cost_if_independent()
    if math.isnan(independent):
        return answer(question, "note", sentence("system.dependence_rows"))
    extra = study.cost - independent
    key = "system.dependence_none" if abs(extra) <= 1e-9 * abs(study.cost) else "system.dependence_known"
    words = sentence(key, independent=independent, cost=study.cost, extra=extra)
    figures = [_chip("system.chip_system", study.cost), _chip("system.chip_independent", independent)]
    return answer(question, "note", words, sentence("system.dependence_rows"), figures=figures)


# ── what a careful colleague would point out ─────────────────────────────────────────────────────────────────────
def _cautions(study: Study) -> Iterator[Finding]:
    """All that applies."""
    for each in (_of_dependence, _of_rules, _of_errors, _of_seeing, _of_size):
        yield from each(study)


def _of_dependence(study: Study) -> Iterator[Finding]:
    models = study.system.network.models
    tables = [name for name, model in models.items() if not model.by_rows]
    if tables and len(models) > 1:
        yield caution("system.caution_independent")
    if study.system.bounds_together is None and len(tables) > 1 and len(models) > 2:
        yield caution("system.caution_together")


def _of_rules(study: Study) -> Iterator[Finding]:
    fusion = study.system.network.fusion
    if fusion.ties:
        yield caution("system.caution_ties", order=", ".join(map(short_name, fusion.terms.letters[:MOST])))
    listened = {name for rule in fusion.rules.values() for name in rule.names()}
    listened |= {name for model in study.system.network.models.values() for name in model.sees}
    for name in study.names:
        if name not in listened:
            yield caution("system.caution_unheard", model=name)


def _of_errors(study: Study) -> Iterator[Finding]:
    rounding = 1e-9 * float(np.abs(study.system.network.prices).max())
    for name, costs in study.costs.items():
        if min(costs.right) < 0:
            yield caution("system.caution_right", model=name)
        elif costs.known and np.nanmin(costs.excess, initial=0.0) < -rounding:
            yield caution("system.caution_helps", model=name)


def _of_seeing(study: Study) -> Iterator[Finding]:
    network = study.system.network
    for name, costs in study.costs.items():
        later = network.later(name)
        if not costs.known:
            yield caution("system.caution_range", model=name, other=later[0])
        elif later and network.rows is not None and network.shared is False:
            yield caution("system.caution_shared", model=name, other=later[0])


def _of_size(study: Study) -> Iterator[Finding]:
    network = study.system.network
    if study.system._bootstrap.reason:
        yield caution(
            "system.caution_rates" if study.system._bootstrap.reason == RATES_ONLY else "system.caution_draws"
        )
    for name in study.names:
        counts = network.models[name].counts
        if counts is not None:
            sizes = counts.sum((1, 2))
            least = int(np.argmin(sizes))
            if sizes[least] < FEW_ROWS:
                yield caution("system.caution_few", n=float(sizes[least]), model=name, truth=network.classes[least])
