"""Rates of two classes: shares of the positives, of the negatives, and of what was decided."""

import math

from stakes.metrics.declare import metric
from stakes.metrics.reasons import NO_NEGATIVES, NO_POSITIVES, NONE_CALLED_NEGATIVE, NONE_CALLED_POSITIVE
from stakes.tallies import Confusion
from stakes.tallies.arithmetic import Number, ratio


@metric(
    question="What share of the cases is positive?",
    formula="P / n",
    share_of="total",
    better="neither",
    swapped="1 - prevalence",
    pitfall="A property of the data, not of the model; precision, accuracy and costs move with it.",
    reference="Rothman, Greenland & Lash (2008), Modern Epidemiology",
)
def prevalence(c: Confusion) -> Number:
    return ratio(c.P, c.total)


@metric(
    question="In what share of the cases is there an alarm?",
    formula="PP / n",
    share_of="total",
    better="neither",
    aliases=("predicted_positive_rate",),
    swapped="1 - alarm_rate",
    pitfall="Far from the prevalence, the threshold cries wolf or sleeps.",
    reference="Swets (1988), Science 240",
)
def alarm_rate(c: Confusion) -> Number:
    return ratio(c.PP, c.total)


@metric(
    question="Of the positive cases, what share is found?",
    formula="tp / P",
    share_of="P",
    aliases=("sensitivity", "true_positive_rate", "tpr", "hit_rate", "power"),
    laws=("recall + miss_rate == 1",),
    swapped="specificity",
    pitfall="Calling everything positive gives 1; read it beside precision or specificity.",
    reference="Yerushalmy (1947), Public Health Reports 62",
    headline=True,
)
def recall(c: Confusion) -> Number:
    return ratio(c.tp, c.P)


@metric(
    question="Of the positive cases, what share is missed?",
    formula="fn / P",
    share_of="P",
    better="lower",
    aliases=("false_negative_rate", "fnr"),
    laws=("miss_rate == 1 - recall",),
    swapped="false_positive_rate",
    pitfall="Calling everything positive gives 0; read it beside the false positive rate.",
    reference="Green & Swets (1966), Signal Detection Theory and Psychophysics",
)
def miss_rate(c: Confusion) -> Number:
    return ratio(c.fn, c.P)


@metric(
    question="Of the negative cases, what share raises a false alarm?",
    formula="fp / N",
    share_of="N",
    better="lower",
    aliases=("fpr", "fall_out"),
    laws=("false_positive_rate + specificity == 1",),
    swapped="miss_rate",
    pitfall="A share of the negatives, not of the alarms: with rare positives, 1 % can be most of the alarms.",
    reference="Green & Swets (1966), Signal Detection Theory and Psychophysics",
)
def false_positive_rate(c: Confusion) -> Number:
    return ratio(c.fp, c.N)


@metric(
    question="Of the negative cases, what share raises no alarm?",
    formula="tn / N",
    share_of="N",
    aliases=("true_negative_rate", "tnr", "selectivity"),
    laws=("specificity == 1 - false_positive_rate",),
    swapped="recall",
    pitfall="Calling nothing positive gives 1; with rare positives, 0.99 can mean more false alarms than hits.",
    reference="Yerushalmy (1947), Public Health Reports 62",
    headline=True,
)
def specificity(c: Confusion) -> Number:
    return ratio(c.tn, c.N)


@metric(
    question="When the model says positive, how often is it right?",
    formula="tp / PP",
    share_of="PP",
    aliases=("positive_predictive_value", "ppv"),
    laws=("precision + false_discovery_rate == 1",),
    swapped="negative_predictive_value",
    pitfall="Falls with the prevalence: a figure from balanced data says little about a rare class.",
    reference="Kent et al. (1955), American Documentation 6",
    headline=True,
)
def precision(c: Confusion) -> Number:
    return ratio(c.tp, c.PP)


@metric(
    question="When the model says positive, how often is it wrong?",
    formula="fp / PP",
    share_of="PP",
    better="lower",
    aliases=("fdr",),
    laws=("false_discovery_rate == 1 - precision",),
    swapped="false_omission_rate",
    pitfall="Rises as positives get rarer: a figure from balanced data promises too much.",
    reference="Benjamini & Hochberg (1995), Journal of the Royal Statistical Society B 57, for its expectation",
)
def false_discovery_rate(c: Confusion) -> Number:
    return ratio(c.fp, c.PP)


@metric(
    question="When the model says negative, how often is it wrong?",
    formula="fn / PN",
    share_of="PN",
    better="lower",
    aliases=("for",),
    laws=("false_omission_rate + negative_predictive_value == 1",),
    swapped="false_discovery_rate",
    pitfall="Small whenever positives are rare, even if all of them are missed.",
    reference="Altman & Bland (1994), BMJ 309",
)
def false_omission_rate(c: Confusion) -> Number:
    return ratio(c.fn, c.PN)


@metric(
    question="When the model says negative, how often is it right?",
    formula="tn / PN",
    share_of="PN",
    aliases=("npv",),
    laws=("negative_predictive_value == 1 - false_omission_rate",),
    swapped="precision",
    pitfall="Close to 1 whenever positives are rare, even if all of them are missed.",
    reference="Altman & Bland (1994), BMJ 309",
)
def negative_predictive_value(c: Confusion) -> Number:
    return ratio(c.tn, c.PN)


@metric(
    within_classes=True,
    question="By how much does a positive decision raise the odds of being positive?",
    formula="TPR / FPR",
    range=(0, math.inf),
    undefined=(NO_POSITIVES, NO_NEGATIVES, NONE_CALLED_POSITIVE),
    aliases=("lr_plus", "lr+", "plr", "positive_lr"),
    laws=("positive_likelihood_ratio == recall / false_positive_rate",),
    swapped="1 / negative_likelihood_ratio",
    pitfall="It multiplies odds, not probabilities; what it means depends on the odds before.",
    reference="Deeks & Altman (2004), BMJ 329",
)
def positive_likelihood_ratio(c: Confusion) -> Number:
    return ratio(c.tp * c.N, c.fp * c.P)


@metric(
    within_classes=True,
    question="What is left of the odds of being positive after a negative decision?",
    formula="FNR / TNR",
    range=(0, math.inf),
    better="lower",
    undefined=(NO_POSITIVES, NO_NEGATIVES, NONE_CALLED_NEGATIVE),
    aliases=("lr_minus", "lr-", "nlr", "negative_lr"),
    laws=("negative_likelihood_ratio == miss_rate / specificity",),
    swapped="1 / positive_likelihood_ratio",
    pitfall="It multiplies odds, not probabilities; 1 says nothing, 0 is perfect.",
    reference="Deeks & Altman (2004), BMJ 329",
)
def negative_likelihood_ratio(c: Confusion) -> Number:
    return ratio(c.fn * c.N, c.tn * c.P)


@metric(
    within_classes=True,
    question="How many times larger are the odds of a positive decision for a positive case than for a negative one?",
    formula="(tp * tn) / (fp * fn)",
    range=(0, math.inf),
    undefined=(NO_POSITIVES, NO_NEGATIVES, NONE_CALLED_POSITIVE, NONE_CALLED_NEGATIVE),
    aliases=("dor", "odds_ratio"),
    laws=("diagnostic_odds_ratio == positive_likelihood_ratio / negative_likelihood_ratio",),
    swapped="diagnostic_odds_ratio",
    pitfall="The same value can come from many misses or from many false alarms.",
    reference="Glas et al. (2003), Journal of Clinical Epidemiology 56",
)
def diagnostic_odds_ratio(c: Confusion) -> Number:
    return ratio(c.tp * c.tn, c.fp * c.fn)
