// What is true at an event, made ready once so that asking costs a binary search: facets by host and name, log entries with the events
// between which they were there, bands of roles, spans of faults, arrows.

const facetOrder = ["state", "role", "epoch", "leader", "voted", "high-watermark", "log-end", "log-start"];

function buildModel(d) {
  const m = columns(d);
  m.doc = d;
  m.texts = d.texts;
  m.hosts = d.hosts;
  m.kinds = d.kinds;
  m.K = {};
  d.kinds.forEach((name, i) => (m.K[name] = i));
  m.byHost = byHost(m);
  effects(m);
  facets(m, d);
  logs(m, d);
  bands(m);
  messages(m);
  actions(m, d);
  m.violation = lastOf(m, m.K.violation);
  m.broken = m.violation >= 0 ? "violation" : "hazard"; // what the run is about, in a word
  if (m.violation < 0) m.violation = m.kind.indexOf(m.K.hazard);
  m.calm = lastOf(m, m.K.calm);
  m.maxWeight = m.weight.reduce((a, b) => (a > b ? a : b), 0);
  return m;
}

function lastOf(m, kind) {
  return m.kind.lastIndexOf(kind);
}

// byHost lists the events of each host; the last list is that of the world.
function byHost(m) {
  const sizes = new Int32Array(m.hosts.length + 1);
  const index = (host) => (host < 0 ? m.hosts.length : host);
  for (let i = 0; i < m.n; i++) sizes[index(m.host[i])]++;
  const lists = Array.from(sizes, (size) => new Int32Array(size));
  sizes.fill(0);
  for (let i = 0; i < m.n; i++) {
    const h = index(m.host[i]);
    lists[h][sizes[h]++] = i;
  }
  return lists;
}

// effects lists what each event brought about, as one array cut into pieces.
function effects(m) {
  const start = new Int32Array(m.n + 1);
  for (let i = 0; i < m.n; i++) if (m.cause[i] >= 0) start[m.cause[i] + 1]++;
  for (let i = 0; i < m.n; i++) start[i + 1] += start[i];
  const list = new Int32Array(start[m.n]);
  const next = start.slice();
  for (let i = 0; i < m.n; i++) if (m.cause[i] >= 0) list[next[m.cause[i]]++] = i;
  m.effectStart = start;
  m.effectList = list;
}

// facets makes a series for each host and name. The end of a process takes all of them back.
function facets(m, d) {
  m.facets = m.hosts.map(() => new Map());
  const names = new Set();
  const put = (host, name, seq, value) => {
    let series = m.facets[host].get(name);
    if (!series) m.facets[host].set(name, (series = { seq: [], value: [] }));
    const last = series.seq.length - 1;
    if (last >= 0 && series.seq[last] === seq) series.value[last] = value;
    else series.seq.push(seq), series.value.push(value);
  };
  let f = 0;
  for (let i = 0; i < m.n; i++) {
    const host = m.host[i];
    if (m.kind[i] === m.K.down && host >= 0) {
      for (const name of m.facets[host].keys()) put(host, name, i, "");
    }
    for (; f < d.facet_seq.length && d.facet_seq[f] === i; f++) {
      if (host < 0) continue;
      const name = m.texts[d.facet_name[f]];
      names.add(name);
      put(host, name, i, m.texts[d.facet_value[f]]);
    }
  }
  const rank = (name) => (facetOrder.indexOf(name) + 1 || facetOrder.length + 1);
  m.facetNames = [...names].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

// facetAt returns the value of a facet after an event, "" for none.
function facetAt(m, host, name, seq) {
  const series = m.facets[host].get(name);
  if (!series) return "";
  const i = after(series.seq, seq) - 1;
  return i < 0 ? "" : series.value[i];
}

// logs gives every entry of every log the events at which it came and went.
function logs(m, d) {
  m.logs = m.hosts.map(() => ({ offset: [], epoch: [], text: [], born: [], died: [], startSeq: [], start: [], edits: [], live: [], head: 0 }));
  for (let i = 0; i < d.log_seq.length; i++) {
    const seq = d.log_seq[i], host = m.host[seq], offset = d.log_offset[i];
    if (host < 0) continue;
    const log = m.logs[host];
    log.edits.push(seq);
    if (d.log_do[i] === 0) {
      log.live.push(log.offset.length);
      log.offset.push(offset), log.epoch.push(d.log_epoch[i]), log.text.push(d.log_text[i]), log.born.push(seq), log.died.push(never);
    } else if (d.log_do[i] === 1) {
      while (log.live.length > log.head && log.offset[log.live[log.live.length - 1]] >= offset) log.died[log.live.pop()] = seq;
    } else {
      while (log.head < log.live.length && log.offset[log.live[log.head]] < offset) log.died[log.live[log.head++]] = seq;
      log.startSeq.push(seq), log.start.push(offset);
    }
  }
  for (const log of m.logs) (log.born = Int32Array.from(log.born)), (log.died = Int32Array.from(log.died));
}

const never = 0x7fffffff;

// logAt lists the last entries, so many at most, of a host's log after an event, by offset: indexes into its columns.
function logAt(m, host, seq, most) {
  const log = m.logs[host], list = [];
  for (let i = after(log.born, seq) - 1; i >= 0 && list.length < most; i--) if (log.died[i] > seq) list.push(i);
  return list.reverse();
}

// logLength counts the entries of a host's log after an event.
function logLength(m, host, seq) {
  const log = m.logs[host], end = after(log.born, seq);
  let n = 0;
  for (let i = 0; i < end; i++) if (log.died[i] > seq) n++;
  return n;
}

// bands cuts each host's time into stretches of one role and epoch, up or down.
function bands(m) {
  m.bands = m.hosts.map((_, host) => {
    const list = [];
    const changes = new Set([0]);
    for (const name of ["role", "epoch", "state", "voter"]) for (const seq of m.facets[host].get(name)?.seq || []) changes.add(seq);
    const lives = [];
    for (const seq of m.byHost[host]) {
      if (m.kind[seq] === m.K.down || m.kind[seq] === m.K.boot) changes.add(seq), lives.push(seq);
    }
    const sorted = [...changes].sort((a, b) => a - b);
    let life = 0, up = lives.length === 0, boot = 0;
    for (let i = 0; i < sorted.length; i++) {
      const seq = sorted[i];
      for (; life < lives.length && lives[life] <= seq; life++) {
        up = m.kind[lives[life]] === m.K.boot;
        if (up) boot = m.boot[lives[life]];
      }
      const observer = facetAt(m, host, "voter", seq) === "no" ? "observer, " : "";
      const role = up ? observer + (facetAt(m, host, "role", seq) || facetAt(m, host, "state", seq) || "up") : boot ? "down" : "not started";
      const epoch = up ? facetAt(m, host, "epoch", seq) : "";
      const last = list[list.length - 1];
      if (last && last.role === role && last.epoch === epoch && last.boot === boot) continue;
      if (last) last.to = seq;
      list.push({ from: seq, to: m.n, role, epoch, boot, label: role + (epoch ? " · epoch " + epoch : ""), tone: tone(role) });
    }
    return list;
  });
}

// bandAt returns the band of a host at an event.
function bandAt(m, host, seq) {
  const list = m.bands[host];
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle].from <= seq) low = middle + 1;
    else high = middle;
  }
  return list[Math.max(0, low - 1)];
}

// tone maps a role to one of the colours, by what the words of the field mean.
function tone(role) {
  const word = role.toLowerCase();
  if (word === "down" || word === "not started") return "down";
  if (/observer/.test(word)) return "observer";
  if (/leader|active|primary/.test(word)) return "leader";
  if (/candidate|prospective|election/.test(word)) return "candidate";
  if (/resign|fenced|shut|stopp/.test(word)) return "resigned";
  if (/follower|backup/.test(word)) return "follower";
  return "idle";
}

// messages pairs sends with what they became. A send that became nothing was lost, or was still on its way at the end.
function messages(m) {
  const sentAt = new Map(), received = new Set(), list = [];
  for (let i = 0; i < m.n; i++) {
    if (!m.message[i]) continue;
    if (m.kind[i] === m.K.send) sentAt.set(m.message[i], i);
    else if (m.kind[i] === m.K.input && sentAt.has(m.message[i])) {
      received.add(m.message[i]);
      list.push([sentAt.get(m.message[i]), i]);
    }
  }
  for (const [number, seq] of sentAt) if (!received.has(number)) list.push([seq, -1]);
  list.sort((a, b) => a[0] - b[0]);
  m.arrowFrom = Int32Array.from(list, (a) => a[0]);
  m.arrowTo = Int32Array.from(list, (a) => a[1]);
  // The furthest end so far: where a view that begins later has to look for arrows that reach into it.
  m.arrowReach = new Int32Array(list.length);
  let reach = -1;
  for (let i = 0; i < list.length; i++) m.arrowReach[i] = reach = Math.max(reach, list[i][0], list[i][1]);
}

// actions finds when each action of the plan struck and ended, and gives it a row in which it covers no other.
function actions(m, d) {
  m.actions = d.actions.map((a) => ({ ...a, from: -1, to: -1, refused: false, row: 0 }));
  for (let i = 0; i < m.n; i++) {
    const a = m.actions[m.action[i] - 1];
    if (!a) continue;
    if (m.kind[i] === m.K.undo) a.to = i;
    else if (a.from < 0) (a.from = i), (a.refused = m.kind[i] === m.K.refused);
  }
  m.struck = m.actions.filter((a) => a.from >= 0);
  const ends = [];
  for (const a of m.struck) {
    const begin = m.at[a.from], end = a.to >= 0 ? m.at[a.to] : begin;
    let row = ends.findIndex((at) => at <= begin);
    if (row < 0) row = ends.length < 4 ? ends.length : 0;
    ends[row] = Math.max(ends[row] || 0, end + (m.at[m.n - 1] || 1) / 60);
    a.row = row;
  }
  m.actionRows = ends.length;
}

// where names the place of an event: host, lane, life of the process.
function where(m, seq) {
  if (m.host[seq] < 0) return "world";
  const lane = m.texts[m.lane[seq]];
  return m.hosts[m.host[seq]].id + (lane ? "/" + lane : "") + (m.boot[seq] > 1 ? " #" + m.boot[seq] : "");
}

// sentence says in one line what an event is.
function sentence(m, seq) {
  return m.kinds[m.kind[seq]] + ": " + (m.texts[m.text[seq]] || "—");
}
