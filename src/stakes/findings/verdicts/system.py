"""The verdict on a system: what it costs, whose mistakes, what to improve first, and what nobody knows.

A :class:`Study` holds every figure that its page is written from, worked out once.
"""

import math
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from stakes.findings.verdicts.answers import MOST, in_order, some_names
from stakes.frozen import dataclass
from stakes.language.sentences import Chip, Finding, Sentence, Tone, answer, caution, in_unit, sentence, short_name
from stakes.systems.bootstrap import RATES_ONLY
from stakes.systems.bounds import Bounds
from stakes.systems.component_costs import ComponentCosts
from stakes.systems.system import System
from stakes.systems.worth import ModelWorth
from stakes.uncertainty.sampling import FEW_CLUSTERS, FEW_ROWS

_MOST_CLASSES = 6
"""The most classes that are described in words."""


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

    @property
    def asking(self) -> float:
        """What it costs to ask the models for 1,000 cases, on top."""
        return self.per_thousand * self.system.consulting

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
        return {name: self.system.bounds_by_model[name] for name in self.names}


def verdict_of(system: System) -> tuple[Finding, ...]:
    """Return the questions with their answers, and what a careful colleague would point out."""
    study = Study(system)
    answers = [_decides(study), _cost(study), _whose(study), _first(study), _dependence(study)]
    if np.count_nonzero(system.network.cases) > 1:  # of one class alone, deciding for it is right for everybody
        answers.insert(2, _cheaper(study))
    found = in_order(answers, _cautions(study))
    return tuple(in_unit(one, system.unit) for one in found)


def _chip(label: str, value: float, limits: tuple[float, float] | None = None) -> Chip:
    """A figure beside an answer."""
    low, high = limits or (None, None)
    return Chip("cost", value, low, high, label=sentence(label), format="cost")


# ── what does it decide? ─────────────────────────────────────────────────────────────────────────────────────────
def _decides(study: Study) -> Finding:
    """The system's own table: who is missed and who is alarmed, and what each class costs."""
    cells = {(cell["truth"], cell["decision"]): cell for cell in study.system.table.to_rows()}
    costs = [one for one in study.system.table.costs_of_classes() if not math.isnan(one["cost"])][:_MOST_CLASSES]
    positive, classes = study.system.positive, study.system.classes
    words, figures = [], []
    if positive is not None and set(classes) == set(study.system.network.fusion.decisions):
        negative = next(name for name in classes if name != positive)
        missed, alarmed = cells[positive, negative], cells[negative, positive]
        shares = {"missed": missed["share"], "alarmed": alarmed["share"]}
        if not study.system.network.absent:
            words.append(sentence("verdict.where_classes", positive=positive, negative=negative, **shares))
        for label, cell in (("system.chip_missed", missed), ("system.chip_alarmed", alarmed)):
            called = sentence(label, truth=cell["truth"])
            figures.append(Chip("share", cell["share"], cell["low"], cell["high"], label=called, format="percent"))
    for one in [] if words else costs:
        most = max((cell for cell in cells.values() if cell["truth"] == one["truth"]), key=lambda cell: cell["share"])
        words.append(
            sentence("system.decides_most", truth=one["truth"], share=most["share"], decision=most["decision"])
        )
    for one in costs:
        total = study.per_thousand * one["total"]
        words.append(sentence("system.decides_cost", truth=one["truth"], cost=one["cost"], total=total))
        called = sentence("system.chip_class", truth=one["truth"])
        figures.append(Chip("cost", one["cost"], one["low"], one["high"], label=called, format="cost"))
    known = [chip for chip in figures if not math.isnan(chip.value)]
    return answer("system.decides_question", "note", *words, figures=known)


# ── what does it cost? ───────────────────────────────────────────────────────────────────────────────────────────
def _cost(study: Study) -> Finding:
    words = [sentence("system.cost_is", cost=study.cost)]
    if study.limits is not None:
        low, high = study.limits
        words.append(sentence("system.cost_interval", low=low, high=high, confidence=study.system.sampling.confidence))
    if not study.system.per_case:
        words.append(sentence("system.cost_total", cost=study.system.cost, n=float(study.system.network.cases.sum())))
    if study.asking:
        words.append(sentence("system.cost_asking", cost=study.asking))
    figures = [_chip("system.per_thousand", study.cost, study.limits)]
    return answer("system.cost_question", "note", *words, figures=figures)


# ── is it cheaper than one decision for everybody? ───────────────────────────────────────────────────────────────
def _cheaper(study: Study) -> Finding:
    (decision, always), cost = study.constant, study.cost + study.asking
    names = {"decision": decision, "always": always, "saved": always - cost, "more": cost - always}
    limits = None if study.limits is None else (study.limits[0] + study.asking, study.limits[1] + study.asking)
    low, high = limits or (cost, cost)
    alike = abs(cost - always) <= 1e-9 * abs(always)
    tone: Tone
    if alike or low <= always <= high:
        words, tone = sentence("system.cheaper_alike" if alike else "system.cheaper_unsure", **names), "doubt"
    elif cost < always:
        words, tone = sentence("system.cheaper_yes", **names), "good"
    else:
        words, tone = sentence("system.cheaper_no", **names), "bad"
    figures = [_chip("system.chip_system", cost, limits), _chip("system.chip_constant", always)]
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
    words = [sentence(key, model=worst, models=some_names(alike), cost=most), _dearest(study, study.costs[worst])]
    others = sorted((name for name in paid if name not in alike), key=lambda name: -paid[name])
    if others:
        words.append(sentence("system.whose_next", model=others[0], cost=study.per_thousand * paid[others[0]]))
    return answer(question, "note", *words)


def _dearest(study: Study, costs: ComponentCosts) -> Sentence:
    """The answer of a model that costs most: how often it happens, times how much more it costs than being right."""
    cases = costs.cases[:, None, None] * costs.seen_shares[..., None] * np.nan_to_num(costs.rates)
    excess = np.nan_to_num(np.reshape(costs.excess, cases.shape))
    c, _, j = place = np.unravel_index(np.argmax(cases * excess), cases.shape)
    return sentence(
        "system.whose_dearest",
        model=costs.model,
        answer=costs.outputs[j],
        truth=costs.classes[c],
        times=study.per_thousand * cases[place],
        excess=excess[place],
    )


# ── which model first? ───────────────────────────────────────────────────────────────────────────────────────────
def _first(study: Study) -> Finding:
    question, worth = "system.first_question", study.system.worth()
    unknown = [one for one in worth.models.values() if math.isnan(one.saving)]
    names = some_names([one.model for one in unknown])
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
    lead = sentence(key, model=first.model, models=some_names(alike), saving=saving, perfect=perfect)
    figures = [_chip("system.chip_now", study.cost), _chip("system.chip_perfect", perfect)]
    if first.saving_limits is not None:
        low, high = (study.per_thousand * end for end in first.saving_limits)
        figures.append(_chip("system.chip_saving", saving, (low, high)))
    return answer(question, tone, lead, _at_most(study, first), *_by_shares(study, first), *left_out, figures=figures)


def _by_shares(study: Study, first: ModelWorth) -> list[Sentence]:
    """Whether the model also comes first by its Shapley share; overlapping intervals count as ties."""
    sure = [one for one in study.system.worth().models.values() if one.share_limits is not None]
    if len(sure) < 2:
        return []
    best = max(sure, key=lambda one: one.share)
    low, high = best.share_limits or (math.nan, math.nan)
    rivals = [one.model for one in sure if one is not best and (one.share_limits or (0, math.inf))[1] >= low]
    if rivals:
        return [sentence("system.first_share_alike", models=some_names([best.model, *rivals]))]
    ends = {
        "share": study.per_thousand * best.share,
        "low": study.per_thousand * low,
        "high": study.per_thousand * high,
    }
    if best.model == first.model:
        return [sentence("system.first_share_too", **ends)]
    return [sentence("system.first_share_other", model=best.model, **ends)]


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
    moves = [sentence("system.dependence_moves", **move) for move in widest.moves[:_MOST_CLASSES]]
    return answer(question, tone, lead, why, assumed, compared, *moves, figures=figures)


def _against_constant(study: Study, best: float, worst: float) -> tuple[Tone, Sentence]:
    """Whether the comparison with one decision for everybody depends on the unknown dependence."""
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
    """The cautions that apply."""
    for c in study.system.network.absent:
        yield caution("system.caution_absent", truth=study.system.classes[c])
    if study.asking:  # costs and worth of models are about mistakes: who asks them, and when, is left to plans
        yield caution("system.caution_prices", cost=study.asking)
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
    for name, label in study.system.strange_answers.items():
        yield caution("system.caution_answer", model=name, answer=label)


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
    units = None if network.rows is None else network.rows.units
    if units is not None and units.clusters and units.clusters < FEW_CLUSTERS:
        yield caution("caution.few_clusters", n=units.clusters, least=FEW_CLUSTERS)
    if study.system._bootstrap.reason:
        yield caution(
            "system.caution_rates" if study.system._bootstrap.reason == RATES_ONLY else "system.caution_draws"
        )
    for name in study.names:
        counts = network.models[name].counts
        if counts is not None:
            sizes = np.where(network.cases > 0, counts.sum((1, 2)), math.inf)
            least = int(np.argmin(sizes))
            if sizes[least] < FEW_ROWS:
                yield caution("system.caution_few", n=float(sizes[least]), model=name, truth=network.classes[least])
