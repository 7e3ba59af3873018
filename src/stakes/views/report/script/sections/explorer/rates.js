// The figures of a two-class table, defined as in stakes.metrics: first what can make one undefined, then its value.
// The reasons are those of the declarations, word for word; they are the keys of their translations.

const NO_ROWS = ["there are no rows", (c) => c.n === 0];
const NO_POSITIVES = ["no case is positive", (c) => c.P === 0];
const NO_NEGATIVES = ["no case is negative", (c) => c.N === 0];
const NONE_CALLED_POSITIVE = ["nothing is decided positive", (c) => c.PP === 0];
const NONE_CALLED_NEGATIVE = ["nothing is decided negative", (c) => c.PN === 0];
const NOTHING_POSITIVE = ["no case is positive and nothing is decided positive", (c) => c.P === 0 && c.PP === 0];
const ONE_TRUTH = ["every case is of the same class", (c) => c.P === 0 || c.N === 0];
const ONE_DECISION = ["every case gets the same decision", (c) => c.PP === 0 || c.PN === 0];
const EMPTY_CLASS = ["a class has no cases", (c) => c.P === 0 || c.N === 0];
const SAME_RATES = ["positives and negatives are decided positive equally often", (c) => c.tp * c.N === c.fp * c.P];
const ONE_CLASS_ONLY = ["truth and decisions are all one and the same class", (c) => c.n * c.n === chancePairs(c)];

const chancePairs = (c) => c.P * c.PP + c.N * c.PN;
const fBeta = (c, beta) => ((1 + beta ** 2) * c.tp) / ((1 + beta ** 2) * c.tp + beta ** 2 * c.fn + c.fp);

const RATES = {
  recall: [(c) => c.tp / c.P, NO_POSITIVES],
  specificity: [(c) => c.tn / c.N, NO_NEGATIVES],
  precision: [(c) => c.tp / c.PP, NONE_CALLED_POSITIVE],
  negative_predictive_value: [(c) => c.tn / c.PN, NONE_CALLED_NEGATIVE],
  accuracy: [(c) => (c.tp + c.tn) / c.n, NO_ROWS],
  balanced_accuracy: [(c) => (c.tp / c.P + c.tn / c.N) / 2, EMPTY_CLASS],
  f1: [(c) => fBeta(c, 1), NOTHING_POSITIVE],
  mcc: [
    (c) => (c.tp * c.tn - c.fp * c.fn) / (Math.sqrt(c.P) * Math.sqrt(c.N) * Math.sqrt(c.PP) * Math.sqrt(c.PN)),
    ONE_TRUTH,
    ONE_DECISION,
  ],
  kappa: [(c) => ((c.tp + c.tn) * c.n - chancePairs(c)) / (c.n * c.n - chancePairs(c)), ONE_CLASS_ONLY],
  alarm_rate: [(c) => c.PP / c.n, NO_ROWS],
  prevalence: [(c) => c.P / c.n, NO_ROWS],
  miss_rate: [(c) => c.fn / c.P, NO_POSITIVES],
  false_positive_rate: [(c) => c.fp / c.N, NO_NEGATIVES],
  false_discovery_rate: [(c) => c.fp / c.PP, NONE_CALLED_POSITIVE],
  false_omission_rate: [(c) => c.fn / c.PN, NONE_CALLED_NEGATIVE],
  positive_likelihood_ratio: [(c) => (c.tp * c.N) / (c.fp * c.P), NO_POSITIVES, NO_NEGATIVES, NONE_CALLED_POSITIVE],
  negative_likelihood_ratio: [(c) => (c.fn * c.N) / (c.tn * c.P), NO_POSITIVES, NO_NEGATIVES, NONE_CALLED_NEGATIVE],
  diagnostic_odds_ratio: [
    (c) => (c.tp * c.tn) / (c.fp * c.fn),
    NO_POSITIVES,
    NO_NEGATIVES,
    NONE_CALLED_POSITIVE,
    NONE_CALLED_NEGATIVE,
  ],
  informedness: [(c) => c.tp / c.P - c.fp / c.N, NO_POSITIVES, NO_NEGATIVES],
  markedness: [(c) => c.tp / c.PP - c.fn / c.PN, NONE_CALLED_POSITIVE, NONE_CALLED_NEGATIVE],
  one_point_auc: [(c) => (1 + c.tp / c.P - c.fp / c.N) / 2, NO_POSITIVES, NO_NEGATIVES],
  prevalence_threshold: [(c) => prevalenceThreshold(c), NO_POSITIVES, NO_NEGATIVES, SAME_RATES],
  f_beta: [(c) => fBeta(c, 2), NOTHING_POSITIVE],
  fowlkes_mallows: [(c) => c.tp / Math.sqrt(c.P * c.PP), NO_POSITIVES, NONE_CALLED_POSITIVE],
  jaccard: [(c) => c.tp / (c.tp + c.fn + c.fp), NOTHING_POSITIVE],
};

const MAIN_RATES = [
  "recall",
  "specificity",
  "precision",
  "negative_predictive_value",
  "accuracy",
  "balanced_accuracy",
  "f1",
  "mcc",
  "kappa",
  "alarm_rate",
];

function prevalenceThreshold(c) {
  const [found, alarmed] = [Math.sqrt(c.tp / c.P), Math.sqrt(c.fp / c.N)];
  return alarmed / (found + alarmed);
}

function cellsOf(tp, fp, P, N) {
  return { tp, fp, fn: P - tp, tn: N - fp, P, N, n: P + N, PP: tp + fp, PN: P + N - tp - fp };
}

// { value, reason }: a number, or NaN and why.
function rateOf(name, cells) {
  const [value, ...reasons] = RATES[name];
  const why = reasons.find(([, applies]) => applies(cells));
  return why ? { value: NaN, reason: why[0] } : { value: value(cells), reason: null };
}
