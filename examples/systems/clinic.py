"""Two models look at a patient: which one's mistakes cost the clinic more, and would a better one pay?"""

import stakes

IMAGES = [[80, 20], [20, 80]]  # rows: sick, healthy; columns: says sick, says healthy
HISTORY = [[50, 50], [100, 100]]

clinic = stakes.System(
    classes=["sick", "healthy"],
    models={"images": IMAGES, "history": HISTORY},
    decide="images and history",
    costs=stakes.Costs(miss=5, false_alarm=1),
)
print(clinic)

costs = clinic.component_costs("history")
print(f"\nmissing a sick patient costs {costs.excess[0, 1]:g} more than if history had been right")

candidate = [[90, 10], [60, 140]]  # a new model of the history, known only by its confusion table
bounds = clinic.bounds("history", candidate)
print(f"with a new history model the clinic would pay {bounds.independent:g} if it erred on its own,")
print(f"{bounds.best:g} to {bounds.worst:g} whatever the dependence ({bounds.low:.0f} to {bounds.high:.0f} with 95 %)")
print(clinic.break_even("history", price=40))
print(clinic.threshold("history"))
