// Limits of a mean cost or saving, as in stakes.uncertainty.one_more_row: the rows of each cell are resampled as gamma
// variables, and one more row is added at the highest (lowest) value that a row could have.

const LIMIT_DRAWS = 9999;

// groups: [{ share, cells: [{ value, rows, squares, reached }] }]; the classes apart, or all cells as one group.
function meanLimits(groups, confidence, seed = 0) {
  const { counts, extra } = equalRows(groups);
  const tail = (1 - confidence) / 2;
  const draws = Math.max(LIMIT_DRAWS, Math.min(Math.floor(50 / tail - 1), 199999));
  const low = new Float64Array(draws);
  const high = new Float64Array(draws);
  const random = new Random(seed);
  groups.forEach(({ share, cells }, g) => {
    if (!share) return;
    const reached = cells.filter((cell) => cell.reached).map(({ value }) => value);
    const ends = [Math.min(...reached), Math.max(...reached)];
    const drawn = cells.map(({ value }, i) => [value, counts[g][i]]).filter(([, rows]) => rows > 0);
    for (let b = 0; b < draws; b += 1) {
      let [sum, size] = [0, 0];
      for (const [value, rows] of drawn) {
        const one = random.gamma(rows);
        sum += one * value;
        size += one;
      }
      const more = extra * random.exponential();
      low[b] += (share * (sum + more * ends[0])) / (size + more);
      high[b] += (share * (sum + more * ends[1])) / (size + more);
    }
  });
  const beyond = Math.floor(tail * (1 + draws) + 1e-9);
  return around({ low: low.sort()[beyond - 1], high: high.sort()[draws - beyond] }, groups);
}

// The value itself lies between its limits; where every row that could come is worth the same, there are none.
function around({ low, high }, groups) {
  const value = groups.reduce((sum, { share, cells }) => {
    const size = cells.reduce((rows, cell) => rows + cell.rows, 0);
    return sum + (share * cells.reduce((worth, cell) => worth + cell.rows * cell.value, 0)) / size;
  }, 0);
  if (Math.abs(high - low) <= 1e-12 * Math.max(Math.abs(low), Math.abs(high))) return { value, low: null, high: null };
  return { value, low: Math.min(low, value), high: Math.max(high, value) };
}

// Weighted rows: as many equal ones as have the same variance; an unseen row may weigh more than those.
function equalRows(groups) {
  const plain = groups.map(({ cells }) => cells.map(({ rows }) => rows));
  if (groups.every(({ cells }) => cells.every(({ squares }) => squares === undefined))) {
    return { counts: plain, extra: 1 };
  }
  const parts = groups.map(({ share, cells }) => {
    const size = cells.reduce((sum, { rows }) => sum + rows, 0);
    const kish = size / cells.reduce((sum, { squares }) => sum + squares, 0);
    const mean = cells.reduce((sum, { rows, value }) => sum + rows * value, 0) / size;
    const spread = (name) => cells.reduce((sum, cell) => sum + cell[name] * (cell.value - mean) ** 2, 0);
    return { kish, usual: (share ** 2 * spread("rows")) / (size ** 2 * kish), own: (share ** 2 * spread("squares")) / size ** 2 };
  });
  const own = parts.reduce((sum, part) => sum + part.own, 0);
  const gain = own > 0 ? parts.reduce((sum, part) => sum + part.usual, 0) / own : 1;
  return { counts: plain.map((rows, g) => rows.map((one) => one * parts[g].kish * gain)), extra: Math.max(1, gain) };
}

// ── what decisions save against deciding the same for everyone ──
// called: how much of each class gets the higher decision, { positives, negatives, squares? }; reached: whether a row
// could get it at all.
function savingsOf(model, called, { costs, prevalence, apart }, reached = true) {
  const [[rest, alarm], [miss, found]] = costs;
  const classes = [
    { share: 1 - prevalence, name: "negatives", size: model.data.N, gain: rest - alarm },
    { share: prevalence, name: "positives", size: model.data.P, gain: miss - found },
  ];
  const against = (everyone) => {
    const groups = classes.map(({ share, name, size, gain }) => {
      const squares = called.squares?.[name];
      const cell = (value, rows, sum, open) => ({ value, rows, squares: sum, reached: open });
      return { share, cells: [
        cell(everyone ? -gain : 0, size - called[name], squares && model.squares[name] - squares, true),
        cell(everyone ? 0 : gain, called[name], squares, reached),
      ] };
    });
    return meanLimits(apart ? groups : [{ share: 1, cells: groups.flatMap(({ cells }) => cells) }], model.data.confidence);
  };
  return { nobody: against(false), everyone: against(true) };
}

// The rule of stakes.decisions.thresholds.decision: something is surely saved against every decision for everyone
// ("good"), something surely lost against one of them ("bad"), or neither ("doubt").
function earnsItsKeep(savings) {
  const all = Object.values(savings);
  if (all.some(({ high }) => high !== null && high < 0)) return "bad";
  return all.every(({ value, low }) => (low ?? value) > 0) ? "good" : "doubt";
}

function leastSure(savings) {
  const [first, second] = Object.entries(savings).map(([name, one]) => ({ name, ...one, least: one.low ?? one.value }));
  return first.least <= second.least ? first : second;
}
