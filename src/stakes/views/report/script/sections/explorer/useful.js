// Is the model useful at these costs? The rule of stakes.decisions.thresholds.by_cost: the threshold is chosen on
// resamples and every row judged by those without it; the Bayes threshold, which no row has chosen, is preferred where
// the rows cannot tell it from the best.

const RESAMPLES = 1000;
const OWN_SHARE = 0.25; // how much of the threshold of all rows goes into the cost on other rows
const NORMAL_FROM = 64; // from so many rows on, how often they are drawn is as good as normal

// How much of every level each resample holds, drawn once; a level lies between two stops.
class Levels {
  constructor({ data: { stops }, last }) {
    this.count = last;
    this.weight = [stops.tp, stops.fp].map((sums) => differences(sums));
    this.squares = stops.squares?.map((sums) => differences(sums)) ?? null;
    this.resamples = null;
  }

  draw() {
    if (this.resamples) return this.resamples;
    const random = new Random(1);
    const size = 2 * this.count;
    const held = new Float32Array(RESAMPLES * size); // in rows, or their weight
    const without = new Float32Array(RESAMPLES * size); // how likely a row of the level was left out
    this.weight.forEach((weights, c) => weights.forEach((weight, j) => {
      if (!weight) return;
      const rows = this.squares ? weight ** 2 / this.squares[c][j] : weight;
      const shrink = Math.log1p(-1 / Math.max(rows, 1 + 1e-9));
      for (let b = 0, at = c * this.count + j; b < RESAMPLES; b += 1, at += size) {
        const drawn = rows >= NORMAL_FROM
          ? Math.max(rows + Math.sqrt(rows) * random.normal(), 0)
          : random.poisson(rows);
        held[at] = (drawn * weight) / rows;
        without[at] = Math.exp(drawn * shrink);
      }
    }));
    this.resamples = { held, without };
    return this.resamples;
  }

  // What every place of the threshold costs in each resample beyond calling nobody positive: (resample, place).
  paid(help, harm, prevalence, apart) {
    const { held } = this.draw();
    const places = this.count + 1;
    const paid = new Float64Array(RESAMPLES * places);
    for (let b = 0; b < RESAMPLES; b += 1) {
      const start = 2 * b * this.count;
      const negatives = start + this.count;
      let [p, n] = [0, 0];
      for (let j = 0; j < this.count; j += 1) {
        p += held[start + j];
        n += held[negatives + j];
      }
      const gain = help * (apart ? prevalence / (p || 1) : 1 / (p + n || 1));
      const loss = harm * (apart ? (1 - prevalence) / (n || 1) : 1 / (p + n || 1));
      let sum = 0;
      for (let j = 0; j < this.count; j += 1) {
        sum += held[negatives + j] * loss - held[start + j] * gain;
        paid[b * places + j + 1] = sum;
      }
    }
    return paid;
  }

  // What share of each level lies above the thresholds that resamples without it chose: [of positives, of negatives].
  above(paid) {
    const { without } = this.draw();
    const size = 2 * this.count;
    const [sums, whole] = [new Float64Array(size), new Float64Array(size)];
    for (let b = 0; b < RESAMPLES; b += 1) {
      const chosen = lowestPlace(paid.subarray(b * (this.count + 1), (b + 1) * (this.count + 1)));
      for (let i = 0; i < size; i += 1) {
        const left = without[b * size + i];
        whole[i] += left;
        if (i % this.count < chosen) sums[i] += left;
      }
    }
    return sums.map((sum, i) => (whole[i] ? sum / whole[i] : 0));
  }
}

function differences(sums) {
  return sums.slice(1).map((one, i) => one - sums[i]);
}

function lowestPlace(paid) {
  let best = 0;
  for (let place = 1; place < paid.length; place += 1) if (paid[place] < paid[best]) best = place;
  return best;
}

// { tone, threshold, cost, savings }; threshold is the recommended one.
function usefulAt(model, setting) {
  const { costs: [[rest, alarm], [miss, found]], prevalence, apart } = setting;
  const levels = model.levels;
  const [help, harm] = [miss - found, alarm - rest];
  const place = model.best(setting.costs, prevalence);
  const paid = levels.paid(help, harm, prevalence, apart);
  const bayes = model.bayes(setting.costs, prevalence);
  const base = prevalence * miss + (1 - prevalence) * rest;
  const here = model.thresholds.map((_, stop) => model.cost(stop, setting.costs, prevalence) - base);
  const given = !Number.isNaN(bayes) && isAlike(model, here, paid, place, bayes);
  const share = given ? null : levels.above(paid);
  const stop = given ? model.stopFor(bayes) : place;
  const called = given ? calledAt(model, stop) : calledBy(levels, share, place);
  const reached = given || place > 0 || share.some((one) => one > 0);
  const savings = savingsOf(model, called, setting, reached);
  const threshold = given ? bayes : model.thresholds[place];
  const cost = prevalence * (miss - (help * called.positives) / model.data.P)
    + (1 - prevalence) * (rest + (harm * called.negatives) / model.data.N);
  return { tone: threshold === Infinity ? "bad" : earnsItsKeep(savings), threshold, cost, savings };
}

// Who is called positive at a stop.
function calledAt(model, stop) {
  const { tp, fp, squares } = model.data.stops;
  const sums = squares && { positives: squares[0][stop], negatives: squares[1][stop] };
  return { positives: tp[stop], negatives: fp[stop], squares: sums };
}

// Who would be by thresholds that other rows chose; the threshold of all rows has a part.
function calledBy({ count, weight, squares }, share, place) {
  const often = (c, j) => OWN_SHARE * (j < place ? 1 : 0) + (1 - OWN_SHARE) * share[c * count + j];
  const sum = (levels, c) => levels[c].reduce((total, one, j) => total + one * often(c, j), 0);
  const both = (levels) => ({ positives: sum(levels, 0), negatives: sum(levels, 1) });
  return { ...both(weight), squares: squares ? both(squares) : undefined };
}

// Whether a threshold lies between the lowest and the highest that cannot be told from the best (Andrews & Soares 2010).
function isAlike(model, here, paid, best, threshold) {
  const places = here.length;
  const handicap = here.map((cost, place) => Math.max(cost - here[best] - noiseApart(here, paid, place, best), 0));
  const luckiest = new Float64Array(RESAMPLES).fill(Infinity);
  for (let b = 0; b < RESAMPLES; b += 1) {
    for (let place = 0; place < places; place += 1) {
      luckiest[b] = Math.min(luckiest[b], paid[b * places + place] - here[place] + handicap[place]);
    }
  }
  const alike = (place) => {
    const beyond = Float64Array.from(luckiest, (lucky, b) => paid[b * places + place] - here[place] - lucky).sort();
    return here[place] - here[best] <= quantileOf(beyond, model.data.confidence) + 1e-12 * Math.abs(here[best]);
  };
  const some = (wanted) => model.thresholds.some((one, place) => wanted(one) && alike(place));
  return some((one) => one <= threshold) && some((one) => one >= threshold);
}

// By how much resamples differ in what a place costs more than the best one.
function noiseApart(here, paid, place, best) {
  const places = here.length;
  let [sum, squares] = [0, 0];
  for (let b = 0; b < RESAMPLES; b += 1) {
    const apart = paid[b * places + place] - here[place] - (paid[b * places + best] - here[best]);
    sum += apart;
    squares += apart * apart;
  }
  return Math.sqrt(Math.max(squares / RESAMPLES - (sum / RESAMPLES) ** 2, 0));
}

function quantileOf(sorted, share) {
  const place = share * (sorted.length - 1);
  const low = Math.floor(place);
  return sorted[low] + (place - low) * ((sorted[low + 1] ?? sorted[low]) - sorted[low]);
}
