// Which events are shown: words that must all be found, host:, kind: and lane: among them, and a least weight.

function buildFilter(m) {
  const f = { shown: new Uint8Array(m.n).fill(1), list: Int32Array.from({ length: m.n }, (_, i) => i), active: false };
  const lower = m.texts.map((t) => t.toLowerCase());

  f.set = (query, weight) => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const keep = (list, of) => list.some((want) => of.startsWith(want));
    const fields = { host: [], kind: [], lane: [] }, texts = [];
    for (const word of words) {
      const [name, value] = [word.slice(0, word.indexOf(":")), word.slice(word.indexOf(":") + 1)];
      if (fields[name] && value) fields[name].push(...value.split(",").filter(Boolean));
      else texts.push(word);
    }
    const hosts = [...m.hosts.map((h) => h.id.toLowerCase()), "world"].map((id) => !fields.host.length || fields.host.includes(id));
    const kinds = m.kinds.map((k) => !fields.kind.length || keep(fields.kind, k));
    const lanes = fields.lane.length ? lower.map((t) => keep(fields.lane, t)) : null;
    const text = texts.length ? lower.map((t) => texts.every((w) => t.includes(w))) : null;
    let n = 0;
    for (let i = 0; i < m.n; i++) {
      const ok = m.weight[i] >= weight && kinds[m.kind[i]] && hosts[m.host[i] < 0 ? m.hosts.length : m.host[i]] &&
        (!lanes || lanes[m.lane[i]]) && (!text || text[m.text[i]]);
      f.shown[i] = ok ? 1 : 0;
      n += f.shown[i];
    }
    f.list = new Int32Array(n);
    for (let i = 0, k = 0; i < m.n; i++) if (f.shown[i]) f.list[k++] = i;
    f.active = n < m.n;
  };

  // step returns the n-th shown event after (or before) one, the outermost where there are not so many.
  f.step = (seq, n) => {
    if (!f.list.length) return clamp(seq + n, 0, m.n - 1);
    const next = after(f.list, seq);
    const at = n > 0 ? next + n - 1 : (f.list[next - 1] === seq ? next - 1 : next) + n;
    return f.list[clamp(at, 0, f.list.length - 1)];
  };
  return f;
}
