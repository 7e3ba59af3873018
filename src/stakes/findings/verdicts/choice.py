"""The verdict on something chosen for a system: a rule, whom to ask, or thresholds. Does it pay?"""

from collections.abc import Iterator

from stakes.findings.verdicts.answers import in_order
from stakes.language.sentences import Chip, Finding, Sentence, Tone, answer, in_unit, sentence
from stakes.systems.choices import SystemChoice
from stakes.systems.plans import BestPlan


def verdict_of(choice: SystemChoice) -> tuple[Finding, ...]:
    """Return whether the choice pays, and how sure that is."""
    per = 1000 / choice.cases
    key, tone = _pays(choice)
    costs = {"cost": per * choice.held_out, "now": per * choice.now, "saving": per * choice.saving}
    basis = sentence("choice.judged_rows" if choice.from_rows else "choice.judged_tables")
    low, high = (None if end is None else per * end for end in (choice.low, choice.high))
    chips = [
        Chip("cost", costs["cost"], label=sentence("system.per_thousand"), format="cost"),
        Chip("cost", costs["saving"], low, high, label=sentence("system.chip_saving"), format="cost"),
    ]
    lead = _plan(choice, per, costs) if isinstance(choice, BestPlan) else [sentence(f"choice.{key}", **costs)]
    found = answer(f"choice.question_{choice.chosen}", tone, *lead, basis, figures=chips)
    return in_order([in_unit(found, choice.unit)])


def _pays(choice: SystemChoice) -> tuple[str, Tone]:
    """The cheapest is a change only if it surely saves something."""
    enough = 1e-9 * abs(choice.now)
    if abs(choice.saving) <= enough and choice.cost >= choice.now - enough:
        return "same", "note"
    if choice.low is None:
        return ("yes", "good") if choice.saving > enough else ("no", "note")
    if choice.low > 0:
        return "yes", "good"
    return ("perhaps", "doubt") if choice.saving > 0 else ("no", "note")


def _plan(plan: BestPlan, per: float, costs: dict[str, float]) -> Iterator[Sentence]:
    """Which model to ask first, and what that costs beside asking none and beside the given rule."""
    first = plan.steps[0]
    if first["ask"] is None:
        yield sentence("choice.ask_nobody", decision=first["decide"])
    else:
        yield sentence("choice.ask_first", model=first["ask"])
    yield sentence("choice.without", cost=costs["cost"], without=per * plan.without)
    key = "choice.against" if costs["saving"] >= 0 else "choice.against_more"
    yield sentence(key, now=costs["now"], saving=abs(costs["saving"]))
