"""Several labels per row: a threshold for each, evaluated on rows that did not choose it."""

from collections.abc import Mapping
from dataclasses import dataclass

from stakes.decisions.thresholds.decision import Decision, Recommendation, WayRow, saving_as_entries
from stakes.language.sentences import Finding
from stakes.records import Count, RowCount
from stakes.text import visible


@dataclass(frozen=True, eq=False, repr=False)
class LabelDecisions(
    Recommendation, stakes="label decisions", shown="labels rows dropped left_out enough_evidence decisions findings"
):
    """The threshold of each of several labels: ``found["cat"]`` is the :class:`stakes.Decision` about one.

    Each is chosen as that of two classes is: what it costs is told on rows that did not choose it. ``labels`` is how
    many labels there are; ``left_out`` are those that no row has or that all rows have, about which nothing can be
    chosen. ``dropped`` rows lacked a value, ``cautions`` say why nothing here can be believed.
    """

    decisions: Mapping[str, Decision]
    labels: Count
    rows: RowCount
    left_out: tuple[str, ...] = ()
    dropped: Count = 0
    cautions: tuple[Finding, ...] = ()

    plotted_as = "label decisions"

    def __getitem__(self, label: str) -> Decision:
        return self.decisions[label]

    @property
    def enough_evidence(self) -> dict[str, bool | None]:
        """Of which labels deciding by the score surely costs less than giving it to everyone, or to no one."""
        return {label: found.enough_evidence for label, found in self.decisions.items()}

    def to_rows(self) -> list[WayRow]:
        """Return one flat dictionary per label: its threshold, what that costs, and what it saves at least."""
        return [
            {
                "label": label,
                "threshold": found.recommended[0],
                **{name: getattr(found.cost, name) for name in ("value", "low", "high")},
                **saving_as_entries(found.savings.get(found.rival)),
                "enough_evidence": found.enough_evidence,
            }
            for label, found in self.decisions.items()
        ]

    def __repr__(self) -> str:
        return visible(f"<LabelDecisions about {len(self.decisions):,} labels>")
