"""How a segment compares with the rest, by its p-value."""

from stakes.evaluation.base import Evaluation
from stakes.evaluation.by_segment import BySegment, Segment
from stakes.language.sentences import Sentence, Tone, sentence


def segments_by(evaluation: Evaluation, name: str) -> BySegment:
    """Return the segments by one figure; by the key figure they are compared once, whoever asks."""
    known = evaluation._overview if name == evaluation._key_figure else None
    return known or evaluation.by_segment(name)


def verdict_of_segment(segment: Segment, by: BySegment) -> tuple[Tone, Sentence]:
    """Return whether a segment is better or worse than all other rows by the figure: a tone and a sentence."""
    difference, p = segment.difference, segment.adjusted_p_value
    if segment.too_small or segment.value is None or difference is None or p is None:
        key = "small" if segment.too_small else "undefined" if segment.value is None else "uncompared"
        return "open", sentence(f"segments.{key}")
    if p > 1 - by.confidence:
        return "note", sentence("segments.alike")
    if by.better == "neither":
        return "doubt", sentence("segments.differs", p=p)
    worse = (difference > 0) == (by.better == "lower")
    return ("bad", sentence("segments.worse", p=p)) if worse else ("good", sentence("segments.better", p=p))
