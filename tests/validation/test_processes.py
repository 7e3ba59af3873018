"""Fits in several processes, which are started once for the tests of this file, tell the same as fits in one."""

import pickle

import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB

import stakes
from stakes.validation.permutation import permutation_test
from tests.validation.test_refit import noise
from tests.validation.test_scorers import BENIGN, FOLDS, MODEL, TUMOURS
from tests.validation.test_validate import CANCER

pytestmark = pytest.mark.slow


def test_jobs_do_not_change_a_validation():
    X, y = CANCER
    one, two = (
        stakes.validate(RandomForestClassifier(5, random_state=0), X, y, how=3, jobs=jobs).to_dict() for jobs in (1, 2)
    )
    assert one == two


def test_jobs_do_not_change_a_permutation_test():
    one, two = (permutation_test(GaussianNB(), *noise(3), permutations=6, jobs=jobs) for jobs in (1, 2))
    assert one.to_dict() == two.to_dict()
    assert len(set(one.null)) > 1
    assert permutation_test(GaussianNB(), *noise(3), permutations=6, seed=1).null.tolist() != one.null.tolist()


def test_searches_in_several_processes():
    ours = {"cost": stakes.metrics.expected_cost.scorer(costs=stakes.Costs(miss=5, false_alarm=1)), "auc": "roc_auc"}
    search = GridSearchCV(MODEL, {"C": [1e-4, 1]}, scoring=ours, refit="cost", cv=FOLDS, n_jobs=2).fit(TUMOURS, BENIGN)
    alone = GridSearchCV(MODEL, {"C": [1e-4, 1]}, scoring=ours["cost"], cv=FOLDS).fit(TUMOURS, BENIGN)
    assert search.best_params_ == alone.best_params_ == {"C": 1}  # the lower cost, which is the higher score
    assert search.cv_results_["mean_test_cost"] == pytest.approx(alone.cv_results_["mean_test_score"], rel=1e-12)
    again = pickle.loads(pickle.dumps(ours["cost"]))
    assert again(search, TUMOURS, BENIGN) == ours["cost"](search, TUMOURS, BENIGN) < 0
