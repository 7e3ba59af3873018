"""How often plain DeLong's interval of an AUC holds beside the default one; the table about pROC in docs/peers.md.

python bench/plain_delong.py [--files 1000]      to the terminal, a minute or two
"""

import argparse
from statistics import NormalDist

import numpy as np

import stakes

WORLDS = ((0.8, 100, 300), (0.9, 20, 1_980), (0.9, 10, 190), (0.995, 50, 1_950))
METHODS = ("plain delong", None)


def cell(rng: np.random.Generator, auc: float, positives: int, negatives: int, files: int) -> list[str]:
    """Share of files whose interval holds the true AUC of two normal classes, and the mean width, of each method."""
    apart = 2**0.5 * NormalDist().inv_cdf(auc)
    truth = np.repeat([1, 0], [positives, negatives])
    held, width = np.zeros(2), np.zeros(2)
    for _ in range(files):
        ev = stakes.evaluate(truth=truth, score=rng.normal(size=len(truth)) + apart * truth)
        for place, method in enumerate(METHODS):
            found = ev["auc"] if method is None else ev.interval("auc", method=method)
            held[place] += found.low <= auc <= found.high
            width[place] += found.high - found.low
    return [f"{share:.1%} ({mean:.3f})" for share, mean in zip(held / files, width / files, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=1_000, help="simulated files in each cell")
    files, rng = parser.parse_args().files, np.random.default_rng(0)
    print("| AUC | positives, negatives | plain DeLong | stakes' default |\n|---|---|---|---|")
    for auc, positives, negatives in WORLDS:
        cells = cell(rng, auc, positives, negatives, files)
        print(f"| {auc:g} | {positives:,}, {negatives:,} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
