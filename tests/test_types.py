"""What a type checker knows about calls as users write them."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CALLS = {
    'stakes.evaluate("preds.csv", truth="y", score="p")': "stakes.evaluation.base.Evaluation",
    'stakes.evaluate("preds.csv", truth="y", score="p")["auc"].value': "float",
    'stakes.evaluate("preds.csv", truth="y", score="p").threshold': "float | None",
    'stakes.evaluate("preds.csv", truth="y", score="p").confusion': "stakes.tallies.confusion.Confusion | None",
    "stakes.metrics.f1": "stakes.metrics.declare.Metric",
    "stakes.metrics.f1([1, 0], [1, 1])": "float",
    'stakes.compare("preds.csv", truth="y", scores=["a", "b"]).conclusion': "str",
    'stakes.count("preds.csv", truth="y", score="p")': "stakes.engines.plan.Counted",
    'stakes.gate("preds.csv", truth="y", score="p", require="auc.low >= 0.8").passed': "bool",
    'stakes.calibrate("preds.csv", truth="y", score="p").method': "str",
    'stakes.permutation_test("preds.csv", truth="y", score="p").p_value': "float",
    "stakes.Costs(miss=5, false_alarm=1)": "stakes.tallies.costs.Costs",
}
WRONG = {
    'stakes.evaluate("preds.csv", truth="y", scor="p")': 'Unexpected keyword argument "scor" for "evaluate"',
    'stakes.evaluate("preds.csv", truth="y", confidence="high")': "incompatible type",
    'stakes.evaluate("preds.csv", truth="y").treshold': 'has no attribute "treshold"',
}


@pytest.mark.slow
def test_a_type_checker_knows_what_comes_back(tmp_path):
    """The package itself is checked by `make types`; this is about the code of a user."""
    script = tmp_path / "user.py"
    lines = [*(f"reveal_type({call})" for call in CALLS), *WRONG]
    script.write_text("import stakes\n" + "\n".join(lines) + "\n")
    command = [sys.executable, "-m", "mypy", "--cache-dir", ROOT / ".mypy_cache", script]
    told = subprocess.run(command, capture_output=True, text=True, cwd=ROOT).stdout.splitlines()
    of_line = {int(line.split(":")[1]): line for line in reversed(told) if "user.py:" in line}  # of any earlier run
    for number, (call, kind) in enumerate(CALLS.items(), 2):
        assert f'Revealed type is "{kind}"' in of_line.get(number, ""), call
    for number, (call, words) in enumerate(WRONG.items(), 2 + len(CALLS)):
        assert words in of_line.get(number, ""), call


def test_an_evaluation_of_another_task_says_why_it_lacks_something():
    import stakes

    numbers = stakes.evaluate(truth=[1.5, 2.5, 3.0], prediction=[1.0, 2.0, 3.5])
    with pytest.raises(stakes.InputError, match=r"ev\.threshold is for two classes, and this is an evaluation of pred"):
        numbers.threshold  # noqa: B018
    assert not hasattr(numbers, "positive")
    two = stakes.evaluate(truth=[1, 0, 1], score=[0.9, 0.1, 0.4])
    assert (two.positive, two.threshold) == ("1", 0.5)
    with pytest.raises(AttributeError, match=r"ev\.largest_errors is for predicted numbers"):
        two.largest_errors  # noqa: B018
