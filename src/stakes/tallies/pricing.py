"""Costs together with the class frequencies they are meant for, and the frequencies inside the scores."""

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np

from stakes import errors
from stakes.errors import Given, InputError, Pass, some
from stakes.frozen import dataclass
from stakes.records import Finite, Record
from stakes.tallies.arithmetic import Array, Number, is_real
from stakes.tallies.bayes import cheapest, round_up
from stakes.tallies.costs import Cell, Costs, as_fraction
from stakes.tallies.names import canonical

Prior = Finite | Mapping[str, Finite]
"""Class frequencies as they are given: of each class by its name, or of the positive one of two."""

Shares = tuple[Fraction, ...]
"""How frequent each class is, in the order of the classes; they add up to 1."""

AS_IN_THE_ROWS = "rows"
"""The value of training_prior= for a model that was trained on class frequencies like those of the rows."""

_ROUNDING = 1e-6


class _Frequencies:
    """What follows from class frequencies."""

    prior: Prior | None
    training_prior: Prior | str | None

    def deployed(self, truths: Sequence[str], positive: str | None) -> Shares | None:
        """The class frequencies of the deployment, None for those of the rows."""
        return None if self.prior is None else check_shares("prior", self.prior, truths, positive)

    def cases(self, truths: Sequence[str]) -> tuple[int, ...] | None:
        """The cases of each class behind the frequencies of the deployment; None if these are known."""
        if not isinstance(self.prior, Mapping):
            return None
        known = {canonical(name): value for name, value in self.prior.items()}
        found = [known.get(name, 0) for name in truths]
        return tuple(map(int, found)) if are_cases(found) else None

    @property
    def corrects(self) -> bool:
        """Whether probabilities have to be corrected before they decide."""
        return self.prior is not None or self.training_prior is not None

    @property
    def needs_all_rows(self) -> bool:
        """Whether a correction rests on the class frequencies of all rows."""
        return self.corrects and (self.prior is None or self.training_prior == AS_IN_THE_ROWS)

    def correction(self, truths: Sequence[str], positive: str | None, rows: Shares) -> Shares | None:
        """The factor of each class's probability (then they are normalised again); None where nothing changes."""
        if not self.corrects:
            return None
        if self.training_prior is None:
            raise InputError(
                "which-training-prior",
                Given("prior"),
                " changes what the scores mean, which depends on the class frequencies that the model was trained on; "
                "give them as ",
                Pass("training_prior"),
                ", or ",
                Pass("training_prior", "rows"),
                " if they are those of the rows",
            )
        trained = rows
        if not isinstance(self.training_prior, str) or self.training_prior != AS_IN_THE_ROWS:
            trained = check_shares("training_prior", self.training_prior, truths, positive)
        wanted = self.deployed(truths, positive) or rows
        for name, share, target in zip(truths, trained, wanted, strict=True):
            if not share and target:
                raise InputError(
                    "no-training-prior-of",
                    Given("training_prior"),
                    f" gives the class {name!r} a share of 0, so its scores say nothing; give a share above 0",
                )
        return tuple(target / share if share else Fraction(0) for share, target in zip(trained, wanted, strict=True))

    def more_likely_from(self, truths: Sequence[str], positive: str | None, rows: Shares) -> float:
        """The lowest score of two classes, the negative one first, whose corrected probability is at least a half."""
        factors = self.correction(truths, positive, rows)
        return 0.5 if factors is None else lowest_score(Fraction(1, 2), *factors)


@dataclass(frozen=True)
class Frequencies(_Frequencies):
    """Class frequencies where a model is used, and where it was trained; see :class:`Pricing`.

    Counts of classes in place of shares say from how many cases the frequencies were estimated.
    """

    prior: Prior | None = None
    training_prior: Prior | str | None = None

    @property
    def corrects(self) -> bool:
        """Whether probabilities are corrected for where they are used; not without training frequencies."""
        return self.training_prior is not None


@dataclass(frozen=True)
class Pricing(_Frequencies, Record, shown="costs prior training_prior"):
    """What decisions cost, and where.

    ``prior`` are the class frequencies of the deployment, those of the rows if None; ``training_prior`` are the ones
    inside the scores, those of the data that the model was trained on. Where they differ, probabilities are corrected:
    q′ ∝ q·prior/training_prior.
    """

    costs: Costs
    prior: Prior | None = None
    training_prior: Prior | str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.costs, Costs):
            raise errors.not_costs(self.costs)

    def data(self) -> dict[str, object]:
        """Return the costs, and class frequencies by the names of the classes."""
        return {"costs": self.costs, "prior": _plain(self.prior), "training_prior": _plain(self.training_prior)}

    @property
    def names(self) -> list[str]:
        """The classes and decisions that costs and frequencies name."""
        shares = [share for share in (self.prior, self.training_prior) if isinstance(share, Mapping)]
        return [
            *(self.costs.classes or ()),
            *(self.costs.decisions or ()),
            *(name for share in shares for name in share),
        ]

    # ── decisions and their prices ───────────────────────────────────────────────────────────────────────────
    def decisions(self, truths: Sequence[str]) -> tuple[str, ...]:
        """The decisions that can be taken: the classes, or those that the costs name."""
        named = self.costs.decisions
        return tuple(truths) if named is None or set(named) == set(truths) else tuple(named)

    def prices(self, truths: Sequence[str], decisions: Sequence[str], positive: str | None) -> list[tuple[Cell, ...]]:
        """The costs in the order of these truths and decisions."""
        return self.costs.for_table(truths, decisions, positive)

    # ── Bayes decisions ──────────────────────────────────────────────────────────────────────────────────────
    def thresholds(self, negative: str, positive: str, rows: Shares) -> list[tuple[str, float]]:
        """The decisions of two classes with the lowest score of each, from low scores to high ones.

        ``rows`` are the shares of the negative and the positive class. The first decision begins at −∞.
        """
        steps = self.costs.switch_points(positive)
        names = {"negative": negative, "positive": positive} if self.costs.classes is None else {}
        factors = self.correction((negative, positive), positive, rows) or (Fraction(1), Fraction(1))
        found = [(names.get(decision, decision), lowest_score(p, *factors)) for decision, p in steps]
        return [(found[0][0], -math.inf), *found[1:]]

    def bayes(
        self,
        posteriors: Array,
        truths: Sequence[str],
        positive: str | None,
        rows: Shares,
        columns: Mapping[str, Array] | None = None,
    ) -> Array:
        """The cheapest decision for each row of class probabilities, as a code into :meth:`decisions`.

        ``columns`` hold the costs that differ from row to row. Of decisions that cost the same, the one that costs less
        should the positive class be the truth, or else the first.
        """
        decisions = self.decisions(truths)
        prices = self.prices(truths, decisions, positive)
        factors = self.correction(truths, positive, rows)
        weights = posteriors if factors is None else posteriors * np.array(factors, np.float64)
        risks = np.zeros((len(posteriors), len(decisions)))
        for c, row in enumerate(prices):
            for d, cell in enumerate(row):
                risks[:, d] += weights[:, c] * (_column(columns, cell) if isinstance(cell, str) else float(cell))
        if positive is None:
            return cheapest(risks)
        found = list(truths).index(positive)
        paid = [_column(columns, cell) if isinstance(cell, str) else float(cell) for cell in prices[found]]
        return cheapest(risks, np.stack(np.broadcast_arrays(*paid, risks[:, 0])[:-1], axis=1))

    def of_rows(self, truth: Array, truths: Sequence[str], positive: str | None, columns: Mapping[str, Array]) -> Array:
        """What each decision costs in each row, given the class that happened."""
        decisions = self.decisions(truths)
        costs = np.empty((len(truth), len(decisions)))
        for c, row in enumerate(self.prices(truths, decisions, positive)):
            mine = np.asarray(truth == c)
            for d, cell in enumerate(row):
                costs[mine, d] = _column(columns, cell)[mine] if isinstance(cell, str) else float(cell)
        return costs


def _plain(shares: Prior | str | None) -> Mapping[str, float] | float | str | None:
    if isinstance(shares, Mapping):
        return {canonical(name): float(share) for name, share in shares.items()}
    return shares if shares is None or isinstance(shares, str) else float(shares)


def shares_of(sizes: Iterable[Number]) -> Shares:
    """How frequent each class is, from the (weighted) number of its rows."""
    exact = [Fraction(size) for size in sizes]
    total = sum(exact)
    return tuple(size / total for size in exact)


def _column(columns: Mapping[str, Array] | None, name: str) -> Array:
    if columns is None:
        raise errors.costs_by_row([name])
    return columns[name]


def check_shares(argument: str, given: object, truths: Sequence[str], positive: str | None) -> Shares:
    """Check class frequencies: a dictionary, or for two classes the share of the positive one."""
    if isinstance(given, Mapping):
        shares = {canonical(name): share for name, share in given.items()}
        strange, missing = set(shares) - set(truths), [name for name in truths if name not in shares]
        if strange or missing:
            raise InputError(
                "prior-of-other-classes",
                Given(argument),
                f" is about {some(list(shares))}, but the classes are {some(list(truths))}; give a share for each",
            )
        values = [shares[name] for name in truths]
        if are_cases(values):
            return shares_of(values)
    elif is_real(given) and positive is not None and len(truths) == 2:
        values = [given if name == positive else 1 - given for name in truths]
    elif is_real(given) and len(truths) == 2:
        raise errors.which_positive(truths)
    else:
        values = []
    if not all(is_real(share) and 0 <= share <= 1 for share in values) or abs(float(sum(values)) - 1) > _ROUNDING:
        raise InputError(
            "bad-prior",
            Given(argument, given),
            " does not work; give the share of the positive class of two, or ",
            Pass(argument, each="share"),
            " with shares that add up to 1, or with numbers of cases",
        )
    return shares_of(as_fraction(share) for share in values)


def are_cases(values: Sequence[object]) -> bool:
    """Whether numbers are counts of cases rather than shares: whole numbers, more than one case."""
    counts = [value for value in values if is_real(value) and 0 <= value < math.inf and value == int(value)]
    return len(counts) == len(values) and sum(counts) > 1


def lowest_score(p: Fraction, negative: Fraction, positive: Fraction) -> float:
    """Return the lowest score whose probability is at least p once both classes' are multiplied by these factors."""
    if not positive and p:  # there are no positives where the model is going to be used
        return math.inf
    against, in_favour = p * negative, (1 - p) * positive
    return round_up(against / (against + in_favour)) if against + in_favour else 1.0
