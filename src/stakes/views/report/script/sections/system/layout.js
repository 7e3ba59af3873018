// Where the nodes of a network stand, and how its arrows bend.

// One layer after the last of those that influence a node; within a layer near to what it is connected with.
function networkPlaces(count, arrows) {
  const layer = Array(count).fill(0);
  for (let pass = 0; pass < count; pass += 1) {
    for (const [from, to] of arrows) layer[to] = Math.max(layer[to], layer[from] + 1);
  }
  const layers = Array.from({ length: Math.max(...layer) + 1 }, () => []);
  layer.forEach((l, i) => layers[l].push(i));
  const across = Array(count).fill(0);
  const settle = (inside) => inside.forEach((i, place) => { across[i] = place - (inside.length - 1) / 2; });
  layers.forEach(settle);
  const mean = (i) => {
    const near = arrows.flatMap(([from, to]) => (from === i ? [to] : to === i ? [from] : []));
    return near.reduce((sum, other) => sum + across[other], 0) / Math.max(near.length, 1);
  };
  for (let sweep = 0; sweep < 8; sweep += 1) {
    for (const inside of sweep % 2 ? [...layers].reverse() : layers) {
      const wish = new Map(inside.map((i) => [i, mean(i)]));
      inside.sort((a, b) => wish.get(a) - wish.get(b) || a - b);
      settle(inside);
    }
  }
  const tallest = Math.max(...layers.map((inside) => inside.length));
  return { layers: layers.length, tallest, at: layer.map((l, i) => ({ layer: l, across: across[i] })) };
}

const BENDS = [0, 0.15, -0.15, 0.3, -0.3, 0.45, -0.45, 0.65, -0.65];

// The middle of a curve from one place to another, so bent that it keeps away from other nodes, the straighter the
// better.
function bentMiddle(from, to, others, room) {
  let best = null;
  for (const bend of BENDS) {
    const middle = {
      x: (from.x + to.x) / 2 - bend * (to.y - from.y),
      y: (from.y + to.y) / 2 + bend * (to.x - from.x),
    };
    const air = Math.min(room, ...others.map((other) => distanceTo(other, from, middle, to)));
    if (best === null || air > best.air + 1e-6) best = { air, middle };
  }
  return best.middle;
}

function alongCurve(from, middle, to, t) {
  const mix = (a, b, c) => (1 - t) ** 2 * a + 2 * t * (1 - t) * b + t ** 2 * c;
  return { x: mix(from.x, middle.x, to.x), y: mix(from.y, middle.y, to.y) };
}

function distanceTo(other, from, middle, to) {
  let least = Infinity;
  for (let step = 1; step < 30; step += 1) {
    const { x, y } = alongCurve(from, middle, to, step / 30);
    least = Math.min(least, Math.hypot(x - other.x, y - other.y));
  }
  return least;
}

// Where a curve leaves (or enters) the rim of a node, seen from the curve's middle.
function rim(centre, middle, radius) {
  const far = Math.hypot(middle.x - centre.x, middle.y - centre.y) || 1;
  return { x: centre.x + (radius * (middle.x - centre.x)) / far, y: centre.y + (radius * (middle.y - centre.y)) / far };
}
