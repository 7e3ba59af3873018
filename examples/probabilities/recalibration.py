"""
Whose probabilities can be taken at their word?
===============================================

Four classifiers say how probable the positive class is. Do things happen as often as they say, and does recalibration
help? The rows are simulated, as is usual for this question: of 20 features 2 matter, and 10 repeat those two.
"""

import matplotlib.pyplot as plt
from scipy.special import expit
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

import stakes

X, y = make_classification(3500, n_informative=2, n_redundant=10, random_state=2)
known, new, truth = (X[:1000], y[:1000]), X[1000:], y[1000:]

# %%
# What the models say
# -------------------
# They are fitted on 1,000 rows and asked about the other 2,500. A support-vector classifier has only distances to say:
# the logistic function squashes them between 0 and 1, which makes them look like probabilities, not be some.

said = {
    "logistic regression": LogisticRegression().fit(*known).predict_proba(new)[:, 1],
    "naive Bayes": GaussianNB().fit(*known).predict_proba(new)[:, 1],
    "random forest": RandomForestClassifier(random_state=0).fit(*known).predict_proba(new)[:, 1],
    "support vectors": expit(SVC().fit(*known).decision_function(new)),
}
judged = {(name, "as said"): stakes.evaluate(truth=truth, score=p) for name, p in said.items()}
naive = judged["naive Bayes", "as said"]
naive.plot("reliability").ax_.set_title("naive Bayes, as said", loc="left")
print(f"naive Bayes lies {naive.calibration.ece.value:.3f} beside the frequencies on average")

# %%
# Recalibrated on other rows
# --------------------------
# A row is recalibrated by a curve that was fitted on the other folds of the 2,500 rows, never on the row itself:
# a sigmoid, which has two parameters, and an isotonic curve, which may take any rising shape.

calibrators = {"sigmoid": stakes.SigmoidCalibrator(), "isotonic": stakes.IsotonicCalibrator()}
for name, p in said.items():
    for way, calibrator in calibrators.items():
        again = stakes.cross_fitted(calibrator, p, truth)
        judged[name, way] = stakes.evaluate(truth=truth, score=again)

# %%
# Honest probabilities follow the diagonal.

_, axes = plt.subplots(2, 2, figsize=(9, 9), sharex=True, sharey=True, layout="constrained")
for ax, name in zip(axes.flat, said, strict=True):
    for way, marker in zip(("as said", *calibrators), "oD^", strict=True):
        bins = judged[name, way].calibration.reliability().bins
        ax.plot(bins.mean_probability, bins.frequency, marker=marker, label=way)
    ax.plot([0, 1], [0, 1], "--", color="grey", label="honest")
    ax.set(title=name, xlabel="probability that was said", ylabel="how often it happened")
    ax.legend()

# %%
# What dishonesty costs
# ---------------------
# Each loss, the part of it that better calibration could still remove, and p: how often honest probabilities would look
# as far off as these, by slope, shift and shape. Some remains avoidable even of honest ones, because rows are few. A
# forest that says "never" of something that happens has an infinite log loss, whatever its other rows say.

print(f"{'':29}{'Brier score':>11}{'avoidable':>11}{'log loss':>11}{'avoidable':>11}{'p':>8}")
for (name, way), evaluation in sorted(judged.items()):
    found = evaluation.calibration
    parts = [part for loss in (found.brier, found.log_loss) for part in (loss.score, loss.miscalibration)]
    shown = "".join(f"{part.value:11.4f}" for part in parts)
    print(f"{name:20} {way:8}{shown}{found.honest.p_value:8.3f}")

# %%
# Logistic regression is on the border (p is about 0.04), and the sigmoid does not help: it bends what was straight. For
# the support vectors it has the right shape. Naive Bayes takes repeated features for new evidence and is far too sure:
# only the isotonic curve mends that. It also takes the forest's "never" back, with next to no change in the Brier
# score.
