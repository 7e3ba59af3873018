// What there is to know at each stop of the threshold, at the costs and the prevalence that the user has set.
// Stops run from +∞ (nobody is called positive) down to the lowest score (everybody is).

class Model {
  constructor(data) {
    this.data = data;
    this.thresholds = data.stops.thresholds.map((one) => (one === null ? Infinity : one));
    this.last = this.thresholds.length - 1;
    this.rowsPrevalence = data.P / (data.P + data.N);
    const [positives, negatives] = (data.stops.squares ?? []).map((sums) => sums.at(-1));
    this.squares = { positives, negatives }; // sums of squared weights; undefined without weights
    this.levels = new Levels(this);
  }

  // A threshold with the digits that tell it from those beside it.
  writeStop(stop) {
    return writeApart(this.thresholds[stop], [this.thresholds[stop - 1], this.thresholds[stop + 1]]);
  }

  // The same of a threshold between stops.
  writeBeside(threshold) {
    const stop = this.stopFor(threshold);
    return writeApart(threshold, [this.thresholds[stop], this.thresholds[stop + 1]]);
  }

  recall(stop) {
    return this.data.stops.tp[stop] / this.data.P;
  }

  alarms(stop) {
    return this.data.stops.fp[stop] / this.data.N;
  }

  // The table of the rows, or of as many cases where the positive class is as frequent as that.
  cells(stop, prevalence) {
    const { P, N, stops } = this.data;
    if (prevalence === this.rowsPrevalence) return cellsOf(stops.tp[stop], stops.fp[stop], P, N);
    const [positives, negatives] = [(P + N) * prevalence, (P + N) * (1 - prevalence)];
    return cellsOf(positives * this.recall(stop), negatives * this.alarms(stop), positives, negatives);
  }

  // precision = TPR·π / (TPR·π + FPR·(1 − π)); drawn from 1 where nobody is called positive.
  precision(stop, prevalence) {
    const found = this.recall(stop) * prevalence;
    const called = found + this.alarms(stop) * (1 - prevalence);
    return called === 0 ? 1 : found / called;
  }

  // What a case costs on average; costs: [[right on a negative, false alarm], [miss, found]].
  cost(stop, costs, prevalence) {
    const [[rest, alarm], [miss, found]] = costs;
    const [tpr, fpr] = [this.recall(stop), this.alarms(stop)];
    return prevalence * (tpr * found + (1 - tpr) * miss) + (1 - prevalence) * (fpr * alarm + (1 - fpr) * rest);
  }

  best(costs, prevalence) {
    let best = 0;
    for (let stop = 1; stop <= this.last; stop += 1) {
      if (this.cost(stop, costs, prevalence) < this.cost(best, costs, prevalence)) best = stop;
    }
    return best;
  }

  // The score from which on a positive decision is cheaper, if the probabilities are honest where they come from.
  bayes([[rest, alarm], [miss, found]], prevalence) {
    if (!this.data.probabilities) return NaN;
    const [harm, help] = [alarm - rest, miss - found];
    if (!(harm > 0) || !(help > 0)) return NaN;
    const trained = this.data.trained ?? this.rowsPrevalence;
    if (trained === prevalence) return harm / (harm + help);
    const odds = (harm / help) * ((trained / (1 - trained)) / (prevalence / (1 - prevalence)));
    return odds / (1 + odds);
  }

  // Found cases per case, less false alarms at what they weigh against one.
  netBenefit(stop, [[rest, alarm], [miss, found]], prevalence) {
    return prevalence * this.recall(stop) - (1 - prevalence) * this.alarms(stop) * ((alarm - rest) / (miss - found));
  }

  // The lowest stop that is not below a threshold: it decides alike, or nearly so where there are too many scores.
  stopFor(threshold) {
    let stop = 0;
    while (stop < this.last && this.thresholds[stop + 1] >= threshold) stop += 1;
    return stop;
  }
}

// The cheapest thresholds of several ordered decisions, by a running minimum; matrix: [negatives, positives].
function cheapestPolicy(model, [negatives, positives], prevalence) {
  const order = negatives.map((_, d) => d).sort((a, b) => negatives[a] - positives[a] - (negatives[b] - positives[b]));
  const change = (stop, from, to) => prevalence * model.recall(stop) * (positives[to] - positives[from])
    + (1 - prevalence) * model.alarms(stop) * (negatives[to] - negatives[from]);
  let ahead = new Float64Array(model.last + 1); // the least that later switches cost when they stand no lower than here
  const chosen = [];
  for (let i = order.length - 1; i > 0; i -= 1) {
    const [least, at] = runningMinimum(model.last, (stop) => change(stop, order[i - 1], order[i]) + ahead[stop]);
    chosen.unshift(at);
    ahead = least;
  }
  const cost = prevalence * positives[order[0]] + (1 - prevalence) * negatives[order[0]] + ahead[model.last];
  const steps = [{ decision: order[0], stop: null }];
  let stop = model.last;
  chosen.forEach((at, i) => {
    stop = at[stop];
    steps.push({ decision: order[i + 1], stop });
  });
  return {
    cost,
    steps: steps.filter((step, i) => step.stop !== 0 && (i === steps.length - 1 || steps[i + 1].stop !== step.stop)),
  };
}

function runningMinimum(last, value) {
  const least = new Float64Array(last + 1);
  const at = new Int32Array(last + 1);
  for (let stop = 0; stop <= last; stop += 1) {
    const here = value(stop);
    const better = stop === 0 || here < least[stop - 1];
    least[stop] = better ? here : least[stop - 1];
    at[stop] = better ? stop : at[stop - 1];
  }
  return [least, at];
}
