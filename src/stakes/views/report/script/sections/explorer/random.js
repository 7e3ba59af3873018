// Random numbers of the laws that limits are made of; the same seed gives the same numbers.

class Random {
  constructor(seed = 0) {
    this.state = seed;
    this.spare = null;
  }

  // mulberry32: 32 bits at a time, even over (0, 1).
  uniform() {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (((mixed ^ (mixed >>> 14)) >>> 0) + 0.5) / 4294967296;
  }

  // Marsaglia's polar method gives two at once.
  normal() {
    if (this.spare !== null) {
      const kept = this.spare;
      this.spare = null;
      return kept;
    }
    let [x, y, size] = [0, 0, 2];
    while (size >= 1 || size === 0) {
      x = 2 * this.uniform() - 1;
      y = 2 * this.uniform() - 1;
      size = x * x + y * y;
    }
    const stretch = Math.sqrt((-2 * Math.log(size)) / size);
    this.spare = y * stretch;
    return x * stretch;
  }

  exponential() {
    return -Math.log(this.uniform());
  }

  // Marsaglia and Tsang (2000); a shape below 1 is drawn one higher and shrunk.
  gamma(shape) {
    if (shape < 1) return this.gamma(shape + 1) * this.uniform() ** (1 / shape);
    const d = shape - 1 / 3;
    const c = 1 / Math.sqrt(9 * d);
    for (;;) {
      const x = this.normal();
      const v = (1 + c * x) ** 3;
      if (v > 0 && Math.log(this.uniform()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v;
    }
  }

  // By walking up the distribution: for small means only.
  poisson(mean) {
    let [k, share] = [0, Math.exp(-mean)];
    let left = this.uniform() - share;
    while (left > 0 && k < 400) {
      k += 1;
      share *= mean / k;
      left -= share;
    }
    return k;
  }
}
