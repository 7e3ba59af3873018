"""
An LLM judge: how many answers would people pass?
=================================================

A language model has judged 2,000 answers of a chatbot, and people have judged 150 of them. What is the pass rate, how
far can the judge be trusted, and which of two judges is the better one?

Everything here is simulated, so that the true pass rate is known in the end: people would pass 62 % of the answers.
"""

import matplotlib.pyplot as plt
import numpy as np

import stakes

rng = np.random.default_rng(4)
passed = rng.random(2000) < 0.62
kind = np.where(passed, rng.random(2000) < 0.95, rng.random(2000) < 0.45)  # passes nearly half of what people fail
strict = np.where(passed, rng.random(2000) < 0.80, rng.random(2000) < 0.08)
labelled = rng.choice(2000, 150, replace=False)

words = np.array(["fail", "pass"])
human = np.full(2000, "", object)
human[labelled] = words[passed[labelled].astype(int)]
judges = {"kind": words[kind.astype(int)], "strict": words[strict.astype(int)]}

# %%
# One judge
# ---------
# The judge's own pass rate is that of a judge who errs. What people found among 150 answers says how it errs, and all
# 2,000 verdicts say how often: together they give the pass rate of people, with an interval.

found = stakes.evaluate(truth=human, prediction=judges["kind"], positive="pass", unlabelled="estimate")
print(found)

# %%
# Two judges, side by side
# ------------------------
# Sensitivity (recall) is how often a judge passes what people pass, specificity how often it fails what they fail. A
# judge with a bias still gives a right pass rate, if a few labels say how large the bias is.

rates = {}
for name, verdicts in judges.items():
    one = stakes.evaluate(truth=human, prediction=verdicts, positive="pass", unlabelled="estimate")
    rates[name] = one["prevalence"]
    print(f"{name}: passes {np.mean(verdicts == 'pass'):.1%} of all answers")
    for figure in ("prevalence", "recall", "specificity", "kappa"):
        print(f"  {one[figure]}")
    worth = one.as_good_as["prevalence"]
    print(f"  150 labels and this judge tell as much about the pass rate as {worth:.0f} labels alone")

# %%
# The truth
# ---------
# Dots are what the judges say, lines are what their verdicts and the labels tell together.

_, ax = plt.subplots(figsize=(7, 2.4), layout="constrained")
for row, (name, rate) in enumerate(rates.items()):
    ax.plot([rate.low, rate.high], [row, row], linewidth=4, alpha=0.5, solid_capstyle="round", color="C0")
    ax.plot(np.mean(judges[name] == "pass"), row, "o", color="C1")
ax.axvline(passed.mean(), color="black", linestyle=":")
ax.set_yticks(range(len(rates)), list(rates))
ax.set(xlabel="pass rate", ylim=(-0.5, 1.5), title="Pass rates: said by the judge, corrected by 150 labels, and true")
print(f"people would pass {passed.mean():.1%}")

# %%
# Grades instead of verdicts
# --------------------------
# Where people and the judge give stars, the mean of people's stars is estimated in the same way.

stars = rng.choice(5, 2000, p=[0.08, 0.12, 0.2, 0.3, 0.3]) + 1.0
judged = np.clip(stars + 0.5 + 0.8 * rng.normal(size=2000), 1, 5)
given = np.full(2000, np.nan)
given[labelled] = stars[labelled]
graded = stakes.evaluate(truth=given, prediction=judged, unlabelled="estimate")
print(f"the judge's mean {judged.mean():.2f}; people's {graded['mean_truth']}; of all rows {stars.mean():.2f}")
