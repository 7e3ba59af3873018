// What the system decides and costs at any accuracies of its models, exactly.
//
// For each class a list holds the probability of every decision in every combination of what the models say; models are
// summed out from the last to the first. Those with tables come last and answer by their table, which may depend on
// models before them; those from rows come first, and what they say together is as in the rows.

class SystemArithmetic {
  constructor({ axes, decided, prices, shares, rows }) {
    Object.assign(this, { axes, decided, prices, shares, rows });
    this.decisions = prices[0].length;
    this.sizes = axes.map((axis) => axis.chances[0][0].length);
    this.inRows = axes.filter((axis) => axis.by_rows).length;
    this.seen = axes.map((axis, place) => this.seenBefore(axis.sees, place));
  }

  // The number of what a model sees in every combination of those before it.
  seenBefore(sees, place) {
    const found = new Uint32Array(product(this.sizes.slice(0, place)));
    if (!sees.length) return found;
    const strides = sees.map((other) => product(this.sizes.slice(other + 1, place)));
    for (let i = 0; i < found.length; i += 1) {
      sees.forEach((other, k) => {
        found[i] = found[i] * this.sizes[other] + (Math.floor(i / strides[k]) % this.sizes[other]);
      });
    }
    return found;
  }

  // accuracy(axis, class, what is seen) is what a slider says, or null where nobody moved it.
  decide(accuracy) {
    return this.shares.map((_, c) => this.decideClass(c, accuracy));
  }

  decideClass(c, accuracy) {
    let chances = this.certain();
    for (let place = this.axes.length - 1; place >= this.inRows; place -= 1) {
      chances = this.summedOut(chances, place, this.table(place, c, accuracy));
    }
    for (let place = 0; place < this.inRows; place += 1) {
      const wanted = accuracy(place, c, 0);
      if (wanted !== null) chances = this.corrected(chances, place, this.flips(place, c, wanted));
    }
    return this.asInRows(chances, this.rows[c]);
  }

  certain() {
    const chances = new Float64Array(this.decided.length * this.decisions);
    this.decided.forEach((decision, i) => { chances[i * this.decisions + decision] = 1; });
    return chances;
  }

  summedOut(chances, place, table) {
    const [size, width] = [this.sizes[place], this.decisions];
    const seen = this.seen[place];
    const found = new Float64Array(seen.length * width);
    for (let i = 0; i < seen.length; i += 1) {
      for (let j = 0; j < size; j += 1) {
        const chance = table[seen[i]][j];
        for (let s = 0; s < width; s += 1) found[i * width + s] += chance * chances[(i * size + j) * width + s];
      }
    }
    return found;
  }

  // Each answer of a model in the rows is kept, or turned into another one, at random.
  corrected(chances, place, flips) {
    const size = this.sizes[place];
    const stride = product(this.sizes.slice(place + 1, this.inRows)) * this.decisions;
    const found = new Float64Array(chances.length);
    for (let i = 0; i < chances.length; i += 1) {
      const j = Math.floor(i / stride) % size;
      const first = i - j * stride;
      for (let k = 0; k < size; k += 1) found[i] += flips[j][k] * chances[first + k * stride];
    }
    return found;
  }

  asInRows(chances, { places, shares }) {
    return Array.from({ length: this.decisions }, (_, s) => (
      places.reduce((sum, place, i) => sum + shares[i] * chances[place * this.decisions + s], 0)
    ));
  }

  table(place, c, accuracy) {
    const { chances, right } = this.axes[place];
    return chances[c].map((row, a) => {
      const wanted = accuracy(place, c, a);
      return wanted === null ? row : withAccuracy(row, right[c], wanted);
    });
  }

  // Of a model that gets better a share of the errors is put right; of one that gets worse a share of what was right
  // turns into errors, as frequent among each other as before.
  flips(place, c, wanted) {
    const { chances: { [c]: [row] }, right: { [c]: right } } = this.axes[place];
    const [now, errors] = [row[right], withAccuracy(row, right, 0)];
    const mended = now < 1 ? Math.max(0, (wanted - now) / (1 - now)) : 0;
    const spoilt = now > 0 ? Math.max(0, 1 - wanted / now) : 0;
    return row.map((_, j) => row.map((__, k) => {
      if (j === right) return (k === right ? 1 - spoilt : 0) + spoilt * errors[k];
      return (k === j ? 1 - mended : 0) + (k === right ? mended : 0);
    }));
  }

  // What 1,000 cases cost.
  cost(decided) {
    const sum = (list, term) => list.reduce((total, one, i) => total + term(one, i), 0);
    return 1000 * sum(decided, (row, c) => this.shares[c] * sum(row, (chance, s) => chance * this.prices[c][s]));
  }
}

function product(sizes) {
  return sizes.reduce((whole, size) => whole * size, 1);
}

// A row of a table with another share of right answers; errors stay as frequent among each other as they were, and a
// model that never erred errs evenly.
function withAccuracy(row, right, wanted) {
  const wrong = row.reduce((sum, chance, j) => (j === right ? sum : sum + chance), 0);
  return row.map((chance, j) => {
    if (j === right) return wanted;
    return (1 - wanted) * (wrong > 0 ? chance / wrong : 1 / (row.length - 1));
  });
}
