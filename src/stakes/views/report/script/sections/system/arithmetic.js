// What the system decides and costs at any accuracies of its models, exactly.
//
// A list holds figures for every combination of what the models say: for each decision whether it is taken, or what the
// decision costs. Models are summed out from the last to the first: those with tables come last and answer by their
// table, which may depend on models before them; what those from rows say together is as in the rows.

class SystemArithmetic {
  constructor({ axes, decided, prices, shares, rows }) {
    Object.assign(this, { axes, prices, shares, rows });
    this.decisions = prices[0].length;
    this.sizes = axes.map((axis) => axis.chances[0][0].length);
    this.inRows = axes.filter((axis) => axis.by_rows).length;
    this.seen = axes.map((axis, place) => this.seenBefore(axis.sees, place));
    this.taken = new Float64Array(decided.length * this.decisions);
    decided.forEach((decision, i) => { this.taken[i * this.decisions + decision] = 1; });
    this.paid = prices.map((row) => Float64Array.from(decided, (decision) => row[decision]));
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

  // How often each decision is taken for each class, as the sliders stand: accuracy(axis, class, what is seen) is what a
  // slider says, or null where nobody moved it.
  decide(accuracy) {
    return this.shares.map((_, c) => this.meanOf(this.taken, this.decisions, c, accuracy));
  }

  // What 1,000 cases cost, given what is decided.
  cost(decided) {
    const sum = (list, term) => list.reduce((total, one, i) => total + term(one, i), 0);
    return 1000 * sum(decided, (row, c) => this.shares[c] * sum(row, (chance, s) => chance * this.prices[c][s]));
  }

  // What the cases of one class among 1,000 cost.
  costOfClass(c, accuracy) {
    return 1000 * this.shares[c] * this.meanOf(this.paid[c], 1, c, accuracy)[0];
  }

  // The mean, for one class, of figures that are listed for every combination, so many of them for each.
  meanOf(figures, width, c, accuracy) {
    let list = figures;
    for (let place = this.axes.length - 1; place >= this.inRows; place -= 1) {
      list = this.summedOut(list, width, place, this.table(place, c, accuracy));
    }
    for (let place = 0; place < this.inRows; place += 1) {
      const wanted = accuracy(place, c, 0);
      if (wanted !== null) list = this.corrected(list, width, place, this.flips(place, c, wanted));
    }
    return this.asInRows(list, width, this.rows[c]);
  }

  summedOut(list, width, place, table) {
    const [size, seen] = [this.sizes[place], this.seen[place]];
    const found = new Float64Array(seen.length * width);
    for (let i = 0; i < seen.length; i += 1) {
      const row = table[seen[i]];
      for (let j = 0; j < size; j += 1) {
        for (let k = 0; k < width; k += 1) found[i * width + k] += row[j] * list[(i * size + j) * width + k];
      }
    }
    return found;
  }

  // Each answer of a model in the rows is kept, or turned into another one, at random.
  corrected(list, width, place, flips) {
    const size = this.sizes[place];
    const stride = product(this.sizes.slice(place + 1, this.inRows)) * width;
    const found = new Float64Array(list.length);
    for (let first = 0; first < list.length; first += size * stride) {
      for (let j = 0; j < size; j += 1) {
        for (let k = 0; k < size; k += 1) {
          const [to, from, share] = [first + j * stride, first + k * stride, flips[j][k]];
          if (share) for (let i = 0; i < stride; i += 1) found[to + i] += share * list[from + i];
        }
      }
    }
    return found;
  }

  asInRows(list, width, { places, shares }) {
    return Array.from({ length: width }, (_, k) => (
      places.reduce((sum, place, i) => sum + shares[i] * list[place * width + k], 0)
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
