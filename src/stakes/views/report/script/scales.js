// Where a value lies on the paper, and which values deserve a tick.

function linear([from, to], [start, end]) {
  const span = to - from || 1;
  const scale = (value) => start + ((value - from) / span) * (end - start);
  scale.invert = (place) => from + ((place - start) / (end - start)) * span;
  scale.domain = [from, to];
  scale.range = [start, end];
  return scale;
}

// About so many round numbers (steps of 1, 2 or 5) within a domain.
function ticks([from, to], wanted = 5) {
  const rough = (to - from) / wanted;
  if (!(rough > 0)) return [from];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough * 0.8) ?? 10);
  const first = Math.ceil(from / step - 1e-9);
  const last = Math.floor(to / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

// A domain that holds all values, with a little air.
function domainOf(values, air = 0.05) {
  const finite = values.filter((value) => value !== null && Number.isFinite(value));
  if (!finite.length) return [0, 1];
  const low = finite.reduce((a, b) => Math.min(a, b));
  const high = finite.reduce((a, b) => Math.max(a, b));
  const room = (high - low || Math.abs(high) || 1) * air;
  return [low - room, high + room];
}
