"""
A hospital's validation study: how many patients?
=================================================

A hospital wants to know whether a published model works for its own patients, one in fifty of whom has the disease.
How many patients does that take, and what can stand in the protocol?
"""

import matplotlib.pyplot as plt
import numpy as np

import stakes

# %%
# Before there are any data
# -------------------------
# The publication tells an auc of 0.8 and how the probabilities are spread. The hospital wants the auc within 0.1, the
# calibration slope to within 0.2, and the observed over the expected number of cases to within 1 (Riley and others,
# Statistics in Medicine 2021, from whom the numbers are taken).

widths = {"observed_expected": 1.0, "auc": 0.1, "calibration_slope": 0.2}
study = stakes.plan(width=widths, prevalence=0.018, auc=0.8, logit_mean=-5, logit_sd=2.5)
print(study)

# %%
# A decision instead of a width
# -----------------------------
# The ward will use the model if its recall is surely above 0.8. If it is 0.9 in truth, how many patients until the gate
# opens in four of five studies?

gate = stakes.plan(require="recall.low >= 0.8", recall=0.9, prevalence=0.018)
print(gate.paragraph)

# %%
# From a pilot
# ------------
# Four hundred patients of a nearby clinic are known. They tell how much each patient moves the auc, and how much such a
# small pilot leaves open.

rng = np.random.default_rng(2)
sick = rng.random(400) < 0.1
risk = 1 / (1 + np.exp(2.5 - 1.5 * sick - rng.normal(size=400)))
pilot = stakes.evaluate(truth=sick.astype(int), score=risk)
planned = stakes.plan("auc", pilot, width=0.1)
(part,) = planned.parts
print(f"{planned.rows:,} patients; the pilot leaves anything from {part.low_rows:,} to {part.high_rows:,} open")

_, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
ax.plot([point.rows for point in part.curve], [point.reached for point in part.curve], marker="o")
ax.axhline(0.1, color="black", linestyle=":")
ax.axvspan(part.low_rows, part.high_rows, alpha=0.15)
ax.set(
    xlabel="patients", ylabel="width of the 95 % interval", title="What a study of each size would tell about the auc"
)

# %%
# Labels are dear
# ---------------
# Where the model has scored 50,000 patients already and a chart review costs half an hour, fewer labels do.

table = stakes.Confusion.two_class(tp=36, fn=4, fp=72, tn=288)
reviews = stakes.plan("recall", table, width=0.1, labels=50_000)
print(
    f"{reviews.labels:,} chart reviews at random, instead of {stakes.plan('recall', table, width=0.1).rows:,} patients"
)
