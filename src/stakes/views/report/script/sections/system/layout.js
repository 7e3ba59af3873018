// Where the nodes of a network stand: in layers from left to right, near to what they are connected with.

const DUMMY_SIZE = 0.5;

// An arrow over several layers passes through a place of its own in each of them, so that it crosses no node.
// arrows: [from, to]; returns the layers, the place of each node and, for each arrow, the places that it runs through.
function networkPlaces(count, arrows) {
  const layer = layersOf(count, arrows);
  const items = layer.map((l) => ({ layer: l, size: 1, across: 0, near: [] }));
  const ways = arrows.map(([from, to]) => wayThrough(items, from, to));
  const layers = Array.from({ length: Math.max(...layer) + 1 }, (_, l) => items.filter((one) => one.layer === l));
  for (const inside of layers) settle(inside, inside.map((_, i) => i));
  for (let sweep = 0; sweep < 12; sweep += 1) {
    for (const inside of sweep % 2 ? [...layers].reverse() : layers) {
      settle(inside, inside.map(({ near, across }) => (near.length ? mean(near.map((one) => one.across)) : across)));
    }
  }
  const all = items.map((one) => one.across);
  return { layers: layers.length, low: Math.min(...all), high: Math.max(...all), items, ways };
}

// One layer after the last of those that influence a node.
function layersOf(count, arrows) {
  const layer = Array(count).fill(0);
  for (let pass = 0; pass < count; pass += 1) {
    for (const [from, to] of arrows) layer[to] = Math.max(layer[to], layer[from] + 1);
  }
  return layer;
}

function wayThrough(items, from, to) {
  const between = Array.from({ length: items[to].layer - items[from].layer - 1 }, (_, i) => (
    { layer: items[from].layer + 1 + i, size: DUMMY_SIZE, across: 0, near: [] }
  ));
  items.push(...between);
  const way = [items[from], ...between, items[to]];
  way.slice(1).forEach((one, i) => {
    one.near.push(way[i]);
    way[i].near.push(one);
  });
  return way;
}

// As near to where each wishes to be as the room between neighbours allows.
function settle(inside, wishes) {
  const wish = new Map(inside.map((one, i) => [one, wishes[i]]));
  inside.sort((a, b) => wish.get(a) - wish.get(b));
  let end = -Infinity;
  for (const one of inside) {
    one.across = Math.max(wish.get(one), end + one.size / 2);
    end = one.across + one.size / 2;
  }
  const shift = mean(inside.map((one) => wish.get(one) - one.across));
  for (const one of inside) one.across += shift;
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
