"""The system that a user holds: several models, a rule that fuses them, and what its decisions cost."""

import os
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

from stakes import errors
from stakes.engines.columns import as_finite
from stakes.errors import Given, InputError
from stakes.language.narrated import Narrated
from stakes.question.options import Column, Value
from stakes.records import Record
from stakes.results import Plottable, Reportable
from stakes.systems import outcomes, toml
from stakes.systems.bootstrap import Bootstrap
from stakes.systems.bounds import Bounds, bounds, bounds_of_all
from stakes.systems.build import Built
from stakes.systems.choices import BestRule, best_rule
from stakes.systems.component_costs import ComponentCosts
from stakes.systems.description import facts, picture
from stakes.systems.network import Model
from stakes.systems.outcomes import Outcome, OwnTable, SeenAndDone, own_table
from stakes.systems.plans import DEEPEST, BestPlan, best_plan, consulting
from stakes.systems.row_costs import RowCosts, no_limits
from stakes.systems.rows import read_columns
from stakes.systems.situations import collapsed
from stakes.systems.thresholds import BestThresholds, RowsWithScores, SystemThreshold, by_bayes, by_rows, of_one
from stakes.systems.worth import BreakEven, Worth, break_even, worth
from stakes.tallies import JointCounts
from stakes.tallies.checks import as_path

_MOST_COMBINATIONS = 1024
"""With more combinations of answers, bounds over every dependence are only worked out on request."""

FORMAT = 1
"""The version of what to_dict() and to_json() give."""


class System(
    Built,
    Record,
    Narrated,
    Plottable,
    Reportable,
    stakes="system",
    form=FORMAT,
    shown="facts classes=cases positive models rules cost cost_interval=cost_limits consulting table "
    "component_costs=costs_by_model bounds=bounds_by_model bounds_of_all=bounds_together worth=worth() "
    "seeing_and_doing=seeing_and_doing_by_model advice findings",
):
    """What one model's mistakes cost the whole: the true class, models, a rule that fuses them, costs of its decision.

    Models are given by confusion tables (rows are the truth), by shares of right answers, or as columns of a file or
    data frame with ``truth=``; models given by tables are taken as independent given the class. A model can be a
    dictionary: ``{"table": …, "sees": ["images"], "outputs": […], "right": {class: output}}``. ``decide`` is a rule:
    ``"a and b"``, ``"majority(a, b, c)"``, ``"at_least(2, a, b, c)"``, ``'a if b == "sick" else c'``, a full table or
    a function; ``fusers`` are rules that other rules may name.

    The positive class of two is the one of {0, 1}, {−1, 1} and {false, true} that the label rule knows, or else the
    first in ``classes=``; rows without ``classes=`` ask for ``positive=``. Costs are those of all cases (of the rows,
    or of the largest table); with ``prior=`` they are those of one case. Tied votes go to the class listed first.
    ``weight`` is how much each row counts, ``cluster`` which rows belong together: intervals resample whole clusters.
    ``alike`` makes labels of rows alike as in :func:`stakes.evaluate`.

    >>> from stakes import Costs
    >>> system = System(
    ...     classes=["sick", "healthy"],
    ...     models={"images": [[80, 20], [20, 80]], "history": [[50, 50], [100, 100]]},
    ...     decide="images and history",
    ...     costs=Costs(miss=5, false_alarm=1),
    ... )
    >>> system.cost, system.bounds("history").best, system.bounds("history").worst
    (320.0, 250.0, 390.0)
    """

    plotted_as = "system"
    plots = ("network",)

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> "System":
        """Read a system from a TOML file with the same words; "demo:clinic_and" ships with stakes."""
        return cls(**toml.read(as_path("path", path)))

    # ── what there is ────────────────────────────────────────────────────────────────────────────────────────
    @property
    def classes(self) -> tuple[str, ...]:
        """The true classes."""
        return self.network.classes

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models, in the order in which they were given."""
        return self.network.fusion.models

    @property
    def cases(self) -> dict[str, float]:
        """How many cases of each class the costs are for (shares when ``prior=`` was given)."""
        return dict(zip(self.classes, self.network.cases.tolist(), strict=True))

    @property
    def rules(self) -> dict[str, str]:
        """Every rule, explained in words."""
        return self.network.fusion.words()

    @property
    def facts(self) -> dict[str, str]:
        """What all figures rest on, in words."""
        return facts(self)

    @property
    def picture(self) -> str:
        """The network as text."""
        return picture(self.network)

    # ── seeing and doing ─────────────────────────────────────────────────────────────────────────────────────
    def do(self, values: Mapping[str, Value] | None = None, **named: Value) -> Outcome:
        """Make models say something: ``system.do(images="sick")``. The classes and the models before them stay."""
        return outcomes.do(self.network, outcomes.codes_of(self.network, values, named))

    def given(self, values: Mapping[str, Value] | None = None, **named: Value) -> Outcome:
        """Look at the cases in which models say something, which also tells about the class and the other models."""
        return outcomes.observe(self.network, outcomes.codes_of(self.network, values, named))

    def seeing_and_doing(self, model: str) -> list[SeenAndDone]:
        """Put P(decision | class, model says j), NaN where it never does, beside P(decision | class, do(…))."""
        rows: list[SeenAndDone] = []
        for output in self._model(model).outputs:
            codes = outcomes.codes_of(self.network, {model: output}, {})
            seen, done = outcomes.observe_decisions(self.network, codes)[0], outcomes.do(self.network, codes)
            rows += [
                {"truth": truth, "says": output, "decision": decision, "seen": float(p), "done": float(q)}
                for truth, ps, qs in zip(self.classes, seen, done.decisions, strict=True)
                for decision, p, q in zip(done.decision_names, ps, qs, strict=True)
            ]
        return rows

    # ── what a model costs ───────────────────────────────────────────────────────────────────────────────────
    def component_costs(self, model: str) -> ComponentCosts:
        """Return what each answer of a model costs the system, expected (K1) and in excess of being right (K2)."""
        self._model(model)
        known = self._component_costs
        if model not in known:
            small = collapsed(self.network, model)
            bootstrap = self._bootstrap if small is self.network else Bootstrap(small, self.sampling)
            known[model] = ComponentCosts(small, model, self.cost, self.cost_limits, bootstrap)
        return known[model]

    @cached_property
    def _component_costs(self) -> dict[str, ComponentCosts]:
        """A cache, by model."""
        return {}

    @cached_property
    def cost_limits(self) -> tuple[float, float] | None:
        """The ends of the interval of what the system costs; None when everything is given as rates."""
        if no_limits(self.network, 1):
            return None
        rows = RowCosts(self.network)
        return rows.limits(self.cost, rows.made([{}] * len(self.classes)), self.sampling)

    @cached_property
    def table(self) -> OwnTable:
        """The system's own table: how often it takes each decision for each truth, and what each class costs."""
        return own_table(self.network, self.sampling)

    @cached_property
    def _bootstrap(self) -> Bootstrap:
        return Bootstrap(self.network, self.sampling)

    def bounds(self, model: str | None = None, table: Value = None) -> Bounds:
        """Return the least and the most that the system can cost, whatever the dependence of a model on the others.

        ``table`` is a candidate in the model's place: counts or rates (rows are the truth), or the share of right
        answers of each class. Without a model, the dependence between all models given by tables is left open.
        """
        if model is None:
            if table is not None:
                raise InputError(
                    "candidate-of-which-model",
                    Given("table"),
                    f" is a candidate in the place of one model; say which: bounds({self.models[0]!r}, table=…)",
                )
            if all(one.by_rows for one in self.network.models.values()):
                raise InputError(
                    "no-open-dependence",
                    "the rows tell how the models depend on each other, so nothing is open between all of them; ask "
                    f"about one model: bounds({self.models[0]!r})",
                )
            return bounds_of_all(self.network, self.cost, self._bootstrap)
        costs = self.component_costs(model)
        return bounds(self.network, costs, None if table is None else costs.read(table))

    @property
    def costs_by_model(self) -> dict[str, ComponentCosts]:
        """What each answer of every model costs the system."""
        return {name: self.component_costs(name) for name in self.models}

    @cached_property
    def bounds_by_model(self) -> dict[str, Bounds]:
        """The least and the most that the system can cost, whatever the dependence of each model on the others."""
        return {name: self.bounds(name) for name in self.models}

    @cached_property
    def bounds_together(self) -> Bounds | None:
        """Bounds over every dependence between all; None where each model's own say it all, or that takes long."""
        return self.bounds() if self.open_together and self.quickly_bounded else None

    @property
    def open_together(self) -> bool:
        """Whether several models are given by tables, so that their dependence on each other is open too."""
        tables = [model for model in self.network.models.values() if not model.by_rows]
        return len(tables) > 1 and len(self.models) > 2

    @property
    def quickly_bounded(self) -> bool:
        """Whether bounding the dependence between all models takes a moment only."""
        return self.network.joint(0).size <= _MOST_COMBINATIONS

    @property
    def seeing_and_doing_by_model(self) -> dict[str, list[SeenAndDone] | None]:
        """What :meth:`seeing_and_doing` gives for every model; None where only the range of its costs is known."""
        known = {name: costs.known for name, costs in self.costs_by_model.items()}
        return {name: self.seeing_and_doing(name) if known[name] else None for name in self.models}

    # ── what a model is worth ────────────────────────────────────────────────────────────────────────────────
    def worth(self) -> Worth:
        """Return what each model is worth: made perfect, removed, and its share of what could be saved."""
        return self._worth

    @cached_property
    def _worth(self) -> Worth:
        return worth(self.network, self.costs_by_model, self.cost, self.sampling)

    def break_even(self, model: str, price: float = 0.0) -> BreakEven:
        """Return which replacements of a model pay for themselves at a price: a line in (TPR, TNR)."""
        return break_even(self.component_costs(model), self.positive, price)

    def threshold(self, model: str, score: Column = None) -> SystemThreshold:
        """Return where to set a model's threshold, so that the system costs least.

        With ``score`` (a column, or one number per row) from rows, evaluated on held-out rows; without, by Bayes from
        the expected component costs.
        """
        yes, _ = self._yes_and_no(model)
        if score is None:
            return by_bayes(self.component_costs(model), str(self.positive), self._model(model).outputs[yes])
        return of_one(by_rows(self._scored({model: score}), self.sampling))

    def _yes_and_no(self, model: str) -> tuple[int, int]:
        """What a model with a threshold says above and below it."""
        found = self._model(model)
        if self.positive is None or len(found.outputs) != 2 or min(found.right) < 0:
            raise errors.threshold_of_two(model)
        if self.network.absent:
            raise errors.class_needed(f"the threshold of {model!r}", self.classes[self.network.absent[0]])
        yes = found.right[self.classes.index(self.positive)]
        return yes, 1 - yes

    def _scored(self, scores: Mapping[str, Column]) -> RowsWithScores:
        """Read the rows again, with scores of some models."""
        yes_no = {model: self._yes_and_no(model) for model in scores}
        if any(not one.by_rows for one in self.network.models.values()) or isinstance(self._source[0], JointCounts):
            raise InputError(
                "score-without-rows",
                Given("score"),
                " needs the rows of every model; this system is given by tables: leave it out",
            )
        for model in scores:
            if self.network.later(model):
                raise InputError(
                    "threshold-of-seen",
                    f"other models see {model!r}, and nobody knows what they would say at another threshold; run them "
                    "again",
                )
        data, truth = self._source
        named = {f"score of {model}": column for model, column in scores.items()}
        columns, others = read_columns(data, truth, self._columns, self._spelling, self._units | named)
        answers = {name: labels.into(self.network.models[name].outputs) for name, labels in columns.answers.items()}
        found = {model: as_finite(others[f"score of {model}"]) for model in scores}
        return RowsWithScores(self.network, columns.truth.into(self.classes), answers, found, yes_no, columns)

    def can_have_threshold(self, model: str) -> bool:
        """Whether a threshold of a model, and a line on which replacements pay, follow from what its answers cost."""
        costs = self.component_costs(model)
        pair = self.positive is not None and not self.network.absent and len(costs.outputs) == 2
        return pair and not costs.sees and costs.known and min(costs.right) >= 0

    # ── what would be better ─────────────────────────────────────────────────────────────────────────────────
    def best_rule(self) -> BestRule:
        """Return the cheapest decision for each combination of answers, compared with the given rule.

        From tables the rule is exact. From rows it is cross-validated: chosen on four fifths of the rows, evaluated on
        the rest, in turn. Costs are in the units of ``cost``.
        """
        return replace(best_rule(self.network, self.models, self.sampling), unit=self.unit)

    def best_thresholds(self, scores: Mapping[str, Column]) -> BestThresholds:
        """Return the thresholds of several models that together make the system cost least, evaluated on held-out rows.

        ``scores`` are columns, or one number per row, by the name of the model.
        """
        if not isinstance(scores, Mapping) or not scores:
            raise InputError(
                "no-scores-by-model", Given("scores"), f" gives no scores; give {{{self.models[0]!r}: column}} by model"
            )
        return replace(by_rows(self._scored(scores), self.sampling), unit=self.unit)

    def best_plan(self, depth: int = DEEPEST) -> BestPlan:
        """Return which models to ask, in which order, and when to decide what, if asking has a price.

        The ``price`` of a model is what it costs to ask it once. At most ``depth`` models are asked one after the
        other; of all such trees the cheapest is found. ``now`` is what the given rule costs with the models that it
        asks, read from the left: ``a and b`` asks b only where a says yes.
        """
        return replace(best_plan(self.network, self.sampling, depth), unit=self.unit)

    @cached_property
    def consulting(self) -> float:
        """What it costs to ask the models that the rule asks, on top of ``cost``; 0 where no model has a price."""
        return consulting(self.network)

    @property
    def advice(self) -> str:
        """Which model to improve first, and what that can save at most."""
        found = next(found for found in self.findings if found.key == "system.first_question")
        return " ".join(found.words)

    def _model(self, name: str) -> Model:
        if not isinstance(name, str) or name not in self.network.models:
            raise errors.no_such_model(name, list(self.network.models))
        return self.network.models[name]

    def __repr__(self) -> str:
        return f"<System of {len(self.models)} models, {len(self.classes)} classes>"

    def to_rows(self) -> list[dict[str, object]]:
        """Return one flat dictionary per model, true class and answer, for a data frame."""
        cells = [cell for model in self.models for cell in self.component_costs(model).to_rows()]
        seen = [", ".join(f"{name} {answer}" for name, answer in cell.get("sees", {}).items()) for cell in cells]
        return [cell | {"sees": words or None} for cell, words in zip(cells, seen, strict=True)]
