"""Names of options in other libraries, and ours for the same."""

from collections.abc import Collection

from stakes.errors import InputError
from stakes.errors.mentions import About, Pass
from stakes.errors.words import nearest

_OURS = {
    "truth": "y_true targets target actual actual_vector ground_truth gold response obs",
    "prediction": "y_pred preds pred predicted predict_vector",
    "score": "y_score y_prob y_proba probas_pred probs proba probability predictor",
    "weight": "sample_weight sample_weights weights frequency",
    "classes": "labels target_names class_names levels",
    "positive": "pos_label positive_class event_level",
    "by": "segment segments slices sensitive_features",
    "costs": "cost_matrix loss_matrix utility",
    "prior": "prevalence priors class_prior",
    "frequency": "freq freqs counts fweights",
    "confidence": "confidence_level conf_level ci",
    "threshold": "cutoff cut_off decision_threshold",
    "seed": "random_state random_seed",
    "where": "query",
    "separator": "sep delimiter",
    "decimal": "dec",
    "skip": "skiprows skip_rows",
    "na": "na_values null_values na_strings",
    "metric": "scoring metrics eval_metric",
    "how": "cv",
    "missing": "nan_policy dropna na_rm",
    "resamples": "n_resamples n_bootstraps n_boot",
    "permutations": "n_permutations",
    "repeats": "n_repeats",
    "jobs": "n_jobs",
}
"""Our name of an option, and the names that scikit-learn, torchmetrics, PyCM, Evidently, pROC and scipy have for it."""

_ELSEWHERE = {
    "average": "each average is a figure of its own, such as macro_f1 or weighted_f1; ask for that one",
    "metric": "all figures are computed; read the one that is meant from the result, such as ev['auc']",
    "zero_division": "a figure that has no value is NaN, with the reason beside it; leave this out",
    "multi_class": "macro_auc is one class against the rest, hand_till_auc every two classes; ask for one of them",
    "alpha": "it is 1 minus what is called confidence here; pass that",
    "beta": "it is written behind the figure: 'f_beta(beta=0.5)', or F2; ask for that one",
    "squared": "rmse and mse are two figures; ask for the one that is meant",
    "normalize": "counts are in the table of the result, and shares are figures; leave this out",
    "jobs": "nothing is fitted here that could run beside; leave this out",
    "groups": "rows that belong together are called cluster here, segments by; pass one of them",
    "class_weight": "what mistakes cost is given as costs; pass those",
    "sheet_name": "the sheet is part of the name of the file; write FILE::SHEET",
}
"""Options of other libraries without a namesake here, and what to do instead."""

_PRICES = ("miss", "false_alarm")
_BOTH_PRICES = "costs=stakes.Costs(miss=5, false_alarm=1)"
_CALLED = "here it is called "
_TRANSLATED = {theirs: ours for ours, names in _OURS.items() for theirs in names.split()}


def translation(name: str, known: Collection[str]) -> list[str | Pass]:
    """The name of an option of another library here, if it is known."""
    ours = _TRANSLATED.get(name, name)
    found = [one for one in (ours, f"{ours}s") if one in known and one != name]
    elsewhere = _ELSEWHERE.get(ours)
    return [_CALLED, Pass(found[0]), "; pass that"] if found else [elsewhere] if elsewhere else []


def no_such_option(
    verb: str, name: str, known: Collection[str], others: Collection[str] = (), command: str = ""
) -> InputError:
    """``others`` are further options of the call, reported at once, as typed in a ``command`` if there is one."""

    def given(option: str) -> str:
        return f"--{option.replace('_', '-')}" if command else option

    if name in _PRICES and "costs" in known:
        translated: list[str | Pass] = ["what mistakes cost is given together: ", _BOTH_PRICES]
    else:
        translated = translation(name, known) or [nearest(name, list(known)).removeprefix("; ")]
    borrowed = [(one, _TRANSLATED.get(one)) for one in others if one != name and one not in known]
    more = [part for one, ours in borrowed if ours in known for part in (f", {given(one)} ", Pass(str(ours)))]
    if more and translated[0] == _CALLED:
        translated = [*translated[:2], *more, "; pass those"]
    asked = f"stakes {command}" if command else f"{verb}()"
    option = given(name) if command else About(name)
    return InputError("no-such-option", f"{asked} has no option '", option, "'; ", *translated)
