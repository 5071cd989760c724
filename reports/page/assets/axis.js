// The horizontal axis: by virtual time, or by the order of events, in which every event is as wide as any other.

// minutes are the steps of a ruler that has them, in microseconds: nobody counts minutes in tens of seconds.
const minutes = [15, 30, 60, 120, 300, 600, 1200, 1800, 3600].map((s) => s * 1e6);

function buildAxis(m) {
  const x = { byOrder: false, from: 0, to: 1, left: 120, width: 100 };
  const lastUs = m.n ? m.at[m.n - 1] : 0;

  x.value = (seq) => (x.byOrder ? seq : seq >= m.n ? lastUs : m.at[seq]);
  x.low = () => (x.byOrder ? -0.5 : Math.min(0, m.n ? m.at[0] : 0));
  x.high = () => (x.byOrder ? Math.max(1, m.n - 0.5) : Math.max(lastUs * 1.005, 10));
  x.px = (seq) => x.left + ((x.value(seq) - x.from) / (x.to - x.from)) * x.width;
  x.at = (px) => x.from + ((px - x.left) / x.width) * (x.to - x.from);
  // seq returns the last event at or before a place, the first one where there is none before.
  x.seq = (value) => (x.byOrder ? clamp(Math.round(value), 0, m.n - 1) : clamp(after(m.at, value) - 1, 0, m.n - 1));
  x.first = () => (x.byOrder ? clamp(Math.floor(x.from), 0, m.n) : Math.max(0, after(m.at, x.from) - 1));
  x.last = () => (x.byOrder ? clamp(Math.ceil(x.to), -1, m.n - 1) : Math.min(m.n - 1, after(m.at, x.to)));

  x.show = (from, to) => {
    const least = x.byOrder ? 12 : 20;
    const all = x.high() - x.low();
    const span = clamp(to - from, Math.min(least, all), all);
    const middle = (from + to) / 2;
    x.from = clamp(middle - span / 2, x.low(), x.high() - span);
    x.to = x.from + span;
  };
  x.fit = () => x.show(x.low(), x.high());
  x.zoom = (factor, around) => {
    const at = clamp(around, x.from, x.to);
    x.show(at - (at - x.from) / factor, at + (x.to - at) / factor);
  };
  x.move = (share) => {
    const d = (x.to - x.from) * share;
    const by = clamp(d, x.low() - x.from, x.high() - x.to);
    x.from += by;
    x.to += by;
  };
  // reveal moves the view as little as possible so that an event is in it.
  x.reveal = (seq) => {
    const v = x.value(seq), margin = (x.to - x.from) * 0.08;
    if (v >= x.from + margin * 0.2 && v <= x.to - margin * 0.2) return false;
    x.move((v < x.from + margin ? v - x.from - margin * 4 : v - x.to + margin * 4) / (x.to - x.from));
    return true;
  };
  // turn changes the kind of axis and keeps the events that are in view.
  x.turn = () => {
    const [a, b] = [x.first(), x.last()];
    x.byOrder = !x.byOrder;
    x.show(x.value(a), x.value(b));
  };
  x.ticks = () => {
    const wanted = (x.to - x.from) / Math.max(2, Math.floor(x.width / 110));
    const power = Math.pow(10, Math.floor(Math.log10(wanted)));
    const round = !x.byOrder && wanted > 10e6 ? minutes : [1, 2, 5, 10].map((k) => k * power);
    const step = Math.max(1, round.find((k) => k >= wanted) || Math.ceil(wanted / 3600e6) * 3600e6);
    const list = [];
    for (let v = Math.ceil(x.from / step) * step; v <= x.to; v += step) {
      list.push({ value: v, label: x.byOrder ? "#" + count(Math.round(v)) : shortClock(v, step) });
    }
    return list;
  };
  return x;
}
