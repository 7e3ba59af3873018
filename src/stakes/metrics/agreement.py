"""One number for a whole confusion table: how far decisions and truth agree."""

from fractions import Fraction
from typing import Annotated

import numpy as np

from stakes.metrics.baselines import BEST_CONSTANT, ZERO
from stakes.metrics.declare import SIZE, metric
from stakes.metrics.reasons import (
    EMPTY_CLASS,
    NO_DECISION_A_CLASS,
    NO_NEGATIVES,
    NO_POSITIVES,
    NO_ROWS,
    NONE_CALLED_NEGATIVE,
    NONE_CALLED_POSITIVE,
    NOTHING_POSITIVE_AT_ALL,
    ONE_DECISION,
    ONE_TRUTH,
    Undefined,
)
from stakes.tallies import Confusion
from stakes.tallies.arithmetic import Number, ratio, root, root_ratio

SAME_RATES = Undefined("positives and negatives are decided positive equally often", lambda c: c.tp * c.N == c.fp * c.P)
ONE_CLASS_ONLY = Undefined(
    "truth and decisions are all one and the same class", lambda c: c.total**2 == _chance_pairs(c)
)


@metric(
    question="What share of the decisions is right?",
    formula="(tp + tn) / n",
    share_of="total",
    baseline=BEST_CONSTANT,
    many=True,
    sparse=True,
    aliases=("acc",),
    laws=("accuracy == prevalence * recall + (1 - prevalence) * specificity",),
    swapped="accuracy",
    pitfall="With 99 % negatives, calling everything negative is 99 % accurate: look at the baseline.",
    reference="Metz (1978), Seminars in Nuclear Medicine 8",
    headline=True,
)
def accuracy(c: Confusion) -> Number:
    return ratio(c.hits, c.total)


@metric(
    within_classes=True,
    question="How often is the model right when all classes are equally frequent?",
    formula="(TPR + TNR) / 2",
    undefined=(EMPTY_CLASS,),
    many=True,
    aliases=("ba", "bac", "bacc"),
    laws=("balanced_accuracy == (recall + specificity) / 2",),
    swapped="balanced_accuracy",
    pitfall="Prices a miss at N / P false alarms, whether that is what it costs or not.",
    reference="Brodersen et al. (2010), ICPR",
    headline=True,
)
def balanced_accuracy(c: Confusion) -> Number:
    found = [(c.hit(name), total) for name, total in zip(c.truths, np.moveaxis(c.truth_totals, -1, 0), strict=True)]
    if c.leading:
        return np.mean([ratio(hits, total) for hits, total in found], axis=0)
    return float(sum(Fraction(hits) / Fraction(total) for hits, total in found) / len(found))


@metric(
    within_classes=True,
    question="What area lies under the ROC line through this one operating point?",
    formula="(1 + TPR - FPR) / 2",
    undefined=(NO_POSITIVES, NO_NEGATIVES),
    laws=("one_point_auc == balanced_accuracy",),
    swapped="one_point_auc",
    pitfall="It is the balanced accuracy under another name, not the auc of the scores.",
    reference="Sokolova & Lapalme (2009), Information Processing & Management 45",
)
def one_point_auc(c: Confusion) -> Number:
    return ratio(c.P * c.N + c.tp * c.N - c.fp * c.P, 2 * c.P * c.N)


@metric(
    within_classes=True,
    question="How much more often is a positive case decided positive than a negative one?",
    formula="TPR + TNR - 1",
    range=(-1, 1),
    baseline=ZERO,
    undefined=(NO_POSITIVES, NO_NEGATIVES),
    aliases=("youden_j", "bm", "youden", "bookmaker_informedness"),
    laws=("informedness == recall - false_positive_rate",),
    swapped="informedness",
    pitfall="Twice the balanced accuracy less one, so it prices errors by the class sizes, too.",
    reference="Youden (1950), Cancer 3",
)
def informedness(c: Confusion) -> Number:
    return ratio(c.tp * c.tn - c.fp * c.fn, c.P * c.N)


@metric(
    question="How much more often is a case positive after a positive decision than after a negative one?",
    formula="PPV + NPV - 1",
    range=(-1, 1),
    baseline=ZERO,
    undefined=(NONE_CALLED_POSITIVE, NONE_CALLED_NEGATIVE),
    aliases=("delta_p", "mk"),
    laws=("markedness == precision - false_omission_rate",),
    swapped="markedness",
    pitfall="Moves with the prevalence and with how often there is an alarm: not to be compared between data sets.",
    reference="Powers (2011), Journal of Machine Learning Technologies 2",
)
def markedness(c: Confusion) -> Number:
    return ratio(c.tp * c.tn - c.fp * c.fn, c.PP * c.PN)


@metric(
    within_classes=True,
    question="Below which prevalence does precision fall off sharply?",
    formula="(sqrt(TPR * FPR) - FPR) / (TPR - FPR)",
    better="lower",
    undefined=(NO_POSITIVES, NO_NEGATIVES, SAME_RATES),
    laws=("prevalence_threshold == 1 / (1 + sqrt(positive_likelihood_ratio))",),
    aliases=("pt",),
    pitfall="Made of recall and specificity alone; whether the prevalence lies below it is for you to see.",
    reference="Balayla (2020), PLoS ONE 15",
)
def prevalence_threshold(c: Confusion) -> Number:
    # √FPR / (√TPR + √FPR): the same number without the difference of two near equals
    found, alarms = root(c.tp * c.N), root(c.fp * c.P)
    value = ratio(alarms, found + alarms)
    return np.where(c.tp * c.N == c.fp * c.P, np.nan, value)[()]


@metric(
    question="How well are the positives found without crying wolf, both counting equally?",
    formula="2 * tp / (2 * tp + fp + fn)",
    baseline=BEST_CONSTANT,
    undefined=(NOTHING_POSITIVE_AT_ALL,),
    aliases=("f1_score", "f_score", "f_measure", "dice"),
    laws=("f1 * (precision + recall) == 2 * precision * recall", "f1 == 2 * jaccard / (1 + jaccard)"),
    pitfall="Ignores the true negatives and changes when the classes swap names; calling everything positive "
    "already scores 2π / (1 + π) at prevalence π.",
    reference="van Rijsbergen (1979), Information Retrieval",
    headline=True,
)
def f1(c: Confusion) -> Number:
    return ratio(2 * c.tp, 2 * c.tp + c.fn + c.fp)


@metric(
    question="How well are the positives found, recall counting β times as much as precision?",
    formula="(1 + beta**2) * tp / ((1 + beta**2) * tp + beta**2 * fn + fp)",
    baseline=BEST_CONSTANT,
    undefined=(NOTHING_POSITIVE_AT_ALL,),
    pitfall="Ignores the true negatives; beta says how much recall counts, which is not what a miss costs.",
    aliases=("fbeta",),
    reference="van Rijsbergen (1979), Information Retrieval",
)
def f_beta(c: Confusion, *, beta: Annotated[float, SIZE] = 2) -> Number:
    square = beta**2 if c.leading else Fraction(beta) ** 2
    return ratio((1 + square) * c.tp, (1 + square) * c.tp + square * c.fn + c.fp)


@metric(
    question="What is the geometric mean of precision and recall?",
    formula="sqrt(PPV * TPR)",
    baseline=BEST_CONSTANT,
    undefined=(NO_POSITIVES, NONE_CALLED_POSITIVE),
    aliases=("fowlkes_mallows_index", "g_measure", "fm"),
    laws=("fowlkes_mallows**2 == precision * recall",),
    pitfall="Ignores the true negatives, as f1 does.",
    reference="Fowlkes & Mallows (1983), JASA 78",
)
def fowlkes_mallows(c: Confusion) -> Number:
    return root_ratio(c.tp, c.PP * c.P)


@metric(
    question="How strongly are decisions and truth correlated?",
    formula="sqrt(TPR * TNR * PPV * NPV) - sqrt(FNR * FPR * FOR * FDR)",
    range=(-1, 1),
    baseline=ZERO,
    undefined=(ONE_TRUTH, ONE_DECISION),
    many=True,
    aliases=("matthews", "matthews_correlation", "matthews_corrcoef", "phi"),
    laws=("mcc**2 == informedness * markedness",),
    swapped="mcc",
    pitfall="The same recall and specificity give less where a class is rare; errors count alike, whatever they cost.",
    reference="Matthews (1975), Biochimica et Biophysica Acta 405; Gorodkin (2004) for k classes",
    headline=True,
)
def mcc(c: Confusion) -> Number:
    n, truths, decisions = c.total, c.truth_totals, c.decision_totals
    spread = (n**2 - (truths**2).sum(-1)) * (n**2 - (decisions**2).sum(-1))
    return root_ratio(c.hits * n - _chance_pairs(c), spread)


@metric(
    question="Of the cases that are positive or are called positive, what share is both?",
    formula="tp / (tp + fn + fp)",
    baseline=BEST_CONSTANT,
    undefined=(NOTHING_POSITIVE_AT_ALL,),
    aliases=("threat_score", "critical_success_index", "csi", "iou", "ts"),
    laws=("jaccard == f1 / (2 - f1)",),
    pitfall="Ignores the true negatives, and ranks models just as f1 does: it is f1 / (2 - f1).",
    reference="Jaccard (1912), New Phytologist 11",
)
def jaccard(c: Confusion) -> Number:
    return ratio(c.tp, c.tp + c.fn + c.fp)


def _error_of_kappa(c: Confusion) -> float:
    """Its standard error in large samples (Fleiss, Cohen & Everitt 1969, Psychological Bulletin 72)."""
    shares = c.counts[:, [c.decisions.index(name) for name in c.truths]].astype(np.float64) / float(c.total)
    rows, columns, agreed = shares.sum(1), shares.sum(0), float(np.trace(shares))
    chance = float(rows @ columns)
    value = (agreed - chance) / (1 - chance)
    weights = np.add.outer(columns, rows) * (1 - value)
    diagonal = np.diag(shares) @ (1 - np.diag(weights)) ** 2
    others = (shares * weights**2).sum() - np.diag(shares) @ np.diag(weights) ** 2
    variance = (diagonal + others - (value - chance * (1 - value)) ** 2) / (1 - chance) ** 2 / float(c.total)
    return float(np.sqrt(max(variance, 0.0)))


@metric(
    asymptotic=_error_of_kappa,
    question="How far do decisions and truth agree beyond chance (0 chance, 1 always)?",
    formula="(Po - Pe) / (1 - Pe)",
    range=(-1, 1),
    baseline=ZERO,
    undefined=(ONE_CLASS_ONLY,),
    many=True,
    aliases=("cohen_kappa",),
    laws=("kappa <= accuracy",),
    swapped="kappa",
    pitfall="Moves with the prevalence; words such as 'substantial' for its size are a convention.",
    reference="Cohen (1960), Educational and Psychological Measurement 20; Landis & Koch (1977), Biometrics 33",
    headline=True,
)
def kappa(c: Confusion) -> Number:
    chance = _chance_pairs(c)
    return ratio(c.hits * c.total - chance, c.total**2 - chance)


@metric(
    question="In what share of the cases does the model commit itself to a class?",
    formula="(PP + PN) / n",
    baseline=BEST_CONSTANT,
    undefined=(NO_ROWS, NO_DECISION_A_CLASS),
    many=True,
    any_decisions=True,
    swapped="coverage",
    pitfall="1 unless there are decisions beyond the classes, such as abstaining.",
    reference="El-Yaniv & Wiener (2010), Journal of Machine Learning Research 11",
)
def coverage(c: Confusion) -> Number:
    places = [c.decisions.index(name) for name in c.truths if name in c.decisions]
    return ratio(c.decision_totals[..., places].sum(-1), c.total)


def _chance_pairs(c: Confusion) -> Number:
    """n² times the agreement expected of independent decisions with the same margins."""
    places = [c.decisions.index(name) for name in c.truths]
    return (c.truth_totals * c.decision_totals[..., places]).sum(-1)
