"""
A year of watching: an alarm, and no wolf
=========================================

A model finds 93 of 100 cases, and 90 are required. Every morning somebody looks. In September something changes. When
is it found, and how often would a model that is just good enough have raised a false alarm?
"""

from datetime import date, timedelta

import matplotlib.pyplot as plt
import numpy as np

import stakes

rng = np.random.default_rng(4)
mornings = [date(2026, 1, 1) + timedelta(number) for number in range(365)]


def count_day(recall):
    """Count the decisions of a day: a hundred cases, and as many others."""
    hits = rng.binomial(100, recall)
    return stakes.count(truth=[1] * 100 + [0] * 100, prediction=[1] * hits + [0] * (100 - hits) + [0] * 100)


days = {str(day): count_day(0.93 if day < date(2026, 9, 1) else 0.86) for day in mornings}
found = stakes.watch(days, require="recall >= 0.9")
watched = found.watched[0]
print(repr(found))
print(f"alarm on {watched.alarm}, likely changed on {watched.change}; recall since then {watched.since_change:.3f}")

# %%
# The course, with limits that hold on all days at once
# -----------------------------------------------------

_, ax = plt.subplots(figsize=(8, 4), layout="constrained")
ax.plot(mornings, [point.own for point in watched.course], ".", markersize=3, color="0.6", label="that day")
ax.plot(mornings, [point.value for point in watched.course], label="all days so far")
ends = [[point.low for point in watched.course], [point.high for point in watched.course]]
ax.fill_between(mornings, *ends, alpha=0.2)
ax.axhline(0.9, linestyle="--", color="0.3", label="required")
ax.axvline(date.fromisoformat(watched.alarm), color="C3", label="alarm")
ax.set(ylabel="recall", ylim=(0.75, 1))
ax.legend(loc="lower left")

# %%
# Every morning, one small file
# -----------------------------
# A job counts the new day and adds it to a state. Its exit code is 1 from the alarm on, until somebody begins anew. In
# a crontab:
#
# .. code-block:: text
#
#    30 6 * * * stakes count new.csv --truth y --score p -o today.tally && stakes watch today.tally --state w.json
#
# and in a pipeline, where exit code 1 fails the job:
#
# .. code-block:: yaml
#
#    - run: stakes watch days/*.tally --require "recall >= 0.9" --report watch.html
#
# Twenty times two months of a model that is exactly as good as required, looked at every morning:

false = sum(stakes.watch([count_day(0.9) for _ in range(60)], require="recall >= 0.9").alarmed for _ in range(20))
print(f"false alarms in 20 times 60 days at 0.9: {false}")
