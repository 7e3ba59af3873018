"""
Four vehicles: which are taken for which?
=========================================

Opel, Saab, bus or van? A classifier was shown 846 silhouettes of four model vehicles, and only its table of counts is
left. Which vehicles can it tell apart, and does one number for all of them say so? (The numbers of each are those of
the Statlog vehicle silhouettes: Siebert, *Vehicle Recognition Using Rule Based Methods*, 1987.)
"""

import numpy as np

import stakes

# %%
# Rows are the truth, columns are what was decided.

vehicles = ["opel", "saab", "bus", "van"]
counts = np.array(
    [
        [130, 74, 2, 6],
        [96, 99, 6, 16],
        [3, 4, 207, 4],
        [6, 12, 4, 177],
    ]
)
table = stakes.Confusion(vehicles, vehicles, counts)
print(table)

# %%
# Single figures are functions of the table.

for name in ("accuracy", "kappa", "macro_f1", "weighted_f1", "micro_f1"):
    print(f"{name:12} {stakes.metrics.find(name)(table):.6f}")

# %%
# The three averages
# ------------------
# *Macro* is the plain mean over the vehicles, *weighted* counts each as often as it occurs, and *micro* pools the
# counts first: where every case gets one decision, it is the accuracy. Here all vehicles are about equally frequent, so
# the three hardly differ, and all of them hide the same thing.
#
# How sure?
# ---------
# A table is rows that were counted, so it gives every figure with its interval and baseline.

ev = stakes.evaluate(table)
ev

# %%
# One vehicle against the rest
# ----------------------------

for name in ("recall", "false_positive_rate", "precision", "f1"):
    print(f"{name:20}", *(f"{vehicle} {ev[name, vehicle]:.6f}" for vehicle in vehicles))

# %%
# Where the mistakes are
# ----------------------

for truth, decided, count, share in ev.most_confused(3):
    print(f"{truth} taken for {decided}: {count} times, {share:.1%} of that vehicle")

# %%
ev.plot("confusion")

# %%
cars = counts[:2, :2]
print(f"of {cars.sum()} cars that were called a car, {cars.trace()} got the right name")

# %%
# The accuracy of 72 % is the mean of two different stories: buses and vans are recognised nine times of ten, while the
# two cars are told apart little better than by a coin. A better model needs something that tells a Saab from an Opel.
