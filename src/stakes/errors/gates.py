"""Gates and their conditions."""

from collections.abc import Sequence

from stakes.errors import InputError
from stakes.errors.words import short, some


def bad_requirement(text: object) -> InputError:
    return InputError(
        f"{short(repr(text))} is no condition; write a figure, one of >= <= > <, and a number: 'auc.low >= 0.8', "
        "'f1[setosa] > 0.9', 'recall.low >= 0.7 in every segment'"
    )


def bad_figure(text: str) -> InputError:
    return InputError(f"{short(repr(text))} names no figure; write auc, f_beta(beta=2), or f1[setosa] of a class")


def class_of_few(figure: str) -> InputError:
    return InputError(f"{figure}: [CLASS] is for more than two classes; choose the class of two with positive=")


def bad_no_worse(name: object, margin: object) -> InputError:
    return InputError(
        f"no worse by {short(repr(margin))} in {short(repr(name))}: the margin is a number from 0 on; write auc:0.02"
    )


def nothing_required() -> InputError:
    return InputError("there is nothing to check; give conditions (require=) or margins from a baseline (no_worse=)")


def no_baseline() -> InputError:
    return InputError("no_worse= needs a baseline; give baseline=, an evaluation, a comparison or a tally")


def baseline_without_margin() -> InputError:
    return InputError("a baseline alone checks nothing; say with no_worse= which figure may be how much worse")


def comparison_of_two(models: Sequence[str]) -> InputError:
    return InputError(
        f"a baseline that is a comparison holds this model and the baseline, and this one holds {some(models)}"
    )


def another_model(figure: str, one: float, other: float) -> InputError:
    return InputError(
        f"baseline: its first model has {figure} {other:.6g} but this evaluation {one:.6g}; compare this model, on "
        "these rows, with the baseline"
    )


def not_a_baseline(seen: str, wanted: str) -> InputError:
    return InputError(f"baseline: {seen} is nothing to compare a {wanted} evaluation with; give one of the same kind")


def different_confidences(one: str, other: str) -> InputError:
    return InputError(f"baseline: its intervals are of {other}, these of {one}; evaluate both with one confidence=")


def not_to_gate(kind: str) -> InputError:
    return InputError(f"gate() holds an evaluation against conditions, and got a {kind}; pass what evaluate() returns")


def not_to_judge(whose: str, words: str) -> InputError:
    return InputError(f"{whose}{words}; a gate does not judge that")


def wrong_way(condition: str, name: str, better: str) -> str:
    return (
        f"{short(repr(condition))} points the wrong way: a {better} {name} is better, so it passes a worse model; is "
        f"{'<=' if better == 'lower' else '>='} meant?"
    )
