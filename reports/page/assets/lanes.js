// What does not move with the cursor: ruler, faults, roles, logs, events, messages. Only what is in view is drawn; where events lie closer
// than a pixel, how many there are.

const mostGlyphs = 6000, mostArrows = 1500;

function drawLanes(t) {
  const { x, theme } = t, c = t.base, color = theme.color;
  c.clearRect(0, 0, t.width, t.height);
  c.textBaseline = "middle";
  drawRuler(t);
  c.save();
  c.beginPath();
  c.rect(x.left, 0, x.width + 10, t.height);
  c.clip();
  for (let h = 0; h < t.tops.length; h++) drawBands(t, h), drawLog(t, h);
  drawActions(t);
  marks(t);
  drawMessages(t);
  drawEvents(t);
  c.restore();
  c.fillStyle = color.card;
  c.fillRect(0, rulerHeight, x.left - 1, t.height);
  drawNames(t);
}

function drawRuler(t) {
  const { x, theme } = t, c = t.base;
  c.font = "11px " + theme.sans;
  c.textAlign = "center";
  for (const tick of x.ticks()) {
    const px = Math.round(x.left + ((tick.value - x.from) / (x.to - x.from)) * x.width) + 0.5;
    c.strokeStyle = theme.color.grid;
    c.beginPath();
    c.moveTo(px, rulerHeight - 4);
    c.lineTo(px, t.height);
    c.stroke();
    c.fillStyle = theme.color.soft;
    c.fillText(tick.label, clamp(px, x.left + 24, t.width - 30), rulerHeight / 2 - 1);
  }
  c.textAlign = "left";
  c.fillText(x.byOrder ? "order of events" : "virtual time", 8, rulerHeight / 2 - 1);
}

function drawNames(t) {
  const { m, x, theme } = t, c = t.base;
  c.textAlign = "left";
  for (let h = 0; h < t.tops.length; h++) {
    const top = t.tops[h];
    c.strokeStyle = theme.color.line;
    c.beginPath();
    c.moveTo(0, top + 0.5);
    c.lineTo(t.width, top + 0.5);
    c.stroke();
    c.fillStyle = theme.color.ink;
    c.font = "600 12px " + theme.sans;
    c.fillText(fitText(c, m.hosts[h].id, x.left - 16), 8, top + (t.laneHeight >= 40 ? 14 : t.laneHeight / 2));
  }
  if (t.planHeight) {
    c.fillStyle = theme.color.fault;
    c.font = "600 12px " + theme.sans;
    c.fillText(fitText(c, x.left > 100 ? "world, faults" : "faults", x.left - 16), 8, t.planTop + Math.min(t.planHeight / 2, 14));
  }
}

// fitText shortens a text to a width, with an ellipsis.
function fitText(c, text, width) {
  if (width < 10) return "";
  if (c.measureText(text).width <= width) return text;
  let low = 0, high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (c.measureText(text.slice(0, middle) + "…").width <= width) low = middle;
    else high = middle - 1;
  }
  return low ? text.slice(0, low) + "…" : "";
}

// hatch fills a rectangle with lines, so that no meaning is in a colour alone.
function hatch(c, left, top, width, height, color, gap, lean) {
  c.save();
  c.beginPath();
  c.rect(left, top, width, height);
  c.clip();
  c.strokeStyle = color;
  c.lineWidth = 1;
  c.beginPath();
  const begin = Math.max(left, -height) - height, end = Math.min(left + width, 8000) + height;
  for (let px = begin - (begin % gap); px < end; px += gap) {
    c.moveTo(px, lean > 0 ? top + height : top);
    c.lineTo(px + height, lean > 0 ? top : top + height);
  }
  c.stroke();
  c.restore();
}

function drawBands(t, h) {
  const { m, x, theme } = t, c = t.base, height = t.bandHeight(), top = t.tops[h] + 3;
  const list = m.bands[h], first = x.first(), last = x.last();
  c.font = (height >= 15 ? "11px " : "10px ") + theme.sans;
  let i = Math.max(0, list.findIndex((b) => b.to > first)), skip = -1;
  for (; i < list.length && list[i].from <= last; i++) {
    const b = list[i];
    const left = Math.max(x.left - 2, b.from === 0 ? x.left - 2 : x.px(b.from)), right = Math.min(t.width, x.px(b.to));
    if (right < skip + 0.5) continue; // thinner than can be seen, where one was drawn already
    const width = Math.max(1, right - left);
    skip = right;
    const color = theme.color[b.tone];
    if (b.tone === "down") {
      c.globalAlpha = 0.18;
      c.fillStyle = color;
      c.fillRect(left, top, width, t.laneHeight - 4);
      c.globalAlpha = 0.6;
      hatch(c, left, top, width, t.laneHeight - 4, color, 7, -1);
      c.globalAlpha = 1;
    } else {
      c.fillStyle = color;
      c.fillRect(left, top, width, height - 3);
      if (b.tone === "candidate") hatch(c, left, top, width, height - 3, theme.color["on-role"], 5, 1);
      if (b.tone === "leader") c.fillRect(left, top + height - 3, width, 2);
    }
    const text = fitText(c, b.label, width - 8);
    if (!text) continue;
    const middle = top + (height - 3) / 2 + 0.5;
    if (b.tone === "down" || b.tone === "candidate") { // a plate under the text, over the lines
      c.fillStyle = b.tone === "down" ? theme.color.card : color;
      c.fillRect(left + 2, top + 1, c.measureText(text).width + 5, height - 5);
    }
    c.fillStyle = b.tone === "down" ? theme.color.soft : theme.color["on-role"];
    c.fillText(text, left + 4, middle);
  }
}

// drawLog draws the end of the log as a filled step line and the high watermark as a line, over the height of the lane.
function drawLog(t, h) {
  const { m, x, theme } = t, c = t.base;
  if (t.laneHeight < 40) return;
  const scale = (t.top ??= topOffset(m));
  if (!scale) return;
  const bottom = t.tops[h] + t.laneHeight - 2, height = t.laneHeight - t.bandHeight() - 10;
  const line = (name, fill) => {
    const series = m.facets[h].get(name);
    if (!series) return;
    const first = Math.max(0, after(series.seq, x.first()) - 1);
    let begun = false, px = 0, y = bottom;
    c.beginPath();
    for (let i = first; i < series.seq.length; i++) {
      const next = Math.max(x.left, x.px(series.seq[i])), value = parseFloat(series.value[i]);
      const to = bottom - (Number.isFinite(value) ? clamp(value / scale, 0, 1) : 0) * height;
      if (!begun) c.moveTo(next, fill ? bottom : to), (begun = true);
      else if (next - px < 0.3 && next < t.width) { y = to; continue; }
      c.lineTo(next, y);
      c.lineTo(next, to);
      px = next;
      y = to;
      if (next > t.width) break;
    }
    if (!begun) return;
    c.lineTo(t.width, y);
    if (fill) {
      c.lineTo(t.width, bottom);
      c.globalAlpha = 0.22;
      c.fillStyle = theme.color.log;
      c.fill();
      c.globalAlpha = 1;
    } else {
      c.strokeStyle = theme.color.hw;
      c.lineWidth = 1.5;
      c.stroke();
      c.lineWidth = 1;
    }
  };
  line("log-end", true);
  line("high-watermark", false);
}

function topOffset(m) {
  let top = 0;
  for (const host of m.facets) {
    for (const name of ["log-end", "high-watermark"]) {
      for (const value of host.get(name)?.value || []) if (parseFloat(value) > top) top = parseFloat(value);
    }
  }
  return top;
}

// drawActions draws each fault as a flag, or a bar as long as it lasted, and a stripe along the lanes of the hosts that it names.
function drawActions(t) {
  const { m, x, theme } = t, c = t.base;
  c.font = "11px " + theme.sans;
  for (const a of m.struck) {
    const left = x.px(a.from), right = a.to >= 0 ? x.px(a.to) : left, y = t.planTop + 4 + a.row * planRow;
    if (left > t.width || right < x.left - 200) continue;
    const necessary = a.need === "necessary", color = a.refused ? theme.color.soft : theme.color.fault;
    c.strokeStyle = c.fillStyle = color;
    c.lineWidth = necessary ? 2.5 : 1;
    c.setLineDash(a.need === "incidental" || a.refused ? [3, 3] : []);
    if (right - left > 3) {
      c.globalAlpha = necessary ? 0.3 : 0.12;
      c.fillRect(left, y, right - left, planRow - 4);
      c.globalAlpha = 1;
      c.strokeRect(left, y, right - left, planRow - 4);
    }
    c.beginPath();
    c.moveTo(left, y);
    c.lineTo(left, y + planRow - 4);
    c.stroke();
    c.beginPath();
    c.arc(left, y + planRow / 2 - 2, 4, 0, 7);
    if (necessary) c.fill();
    else (c.fillStyle = theme.color.card), c.fill(), c.stroke();
    c.setLineDash([]);
    for (const h of a.hosts) {
      c.globalAlpha = necessary ? 0.9 : 0.5;
      c.fillStyle = color;
      c.fillRect(left, t.tops[h], Math.max(2, right - left), necessary ? 3 : 2);
      c.globalAlpha = 1;
    }
    c.lineWidth = 1;
  }
  labelActions(t);
}

// labelActions writes the action's text where there is room up to the next flag of its row.
function labelActions(t) {
  const { m, x, theme } = t, c = t.base;
  for (let i = 0; i < m.struck.length; i++) {
    const a = m.struck[i], px = Math.max(x.left, x.px(a.from));
    if (px > t.width) continue;
    const next = m.struck.find((b, k) => k > i && b.row === a.row);
    const room = Math.min(next ? x.px(next.from) : t.width, t.width) - px - 12;
    if (x.px(a.from) < x.left - 4 && (a.to < 0 || x.px(a.to) < x.left)) continue;
    const name = a.text.split(" ").slice(1).join(" ").replace(/ #\S+$/, "") || a.kind;
    c.fillStyle = theme.color.ink;
    c.fillText(fitText(c, (a.need === "necessary" ? "necessary: " : "") + name + (a.refused ? " (refused)" : ""), room), px + 7, t.planTop + 4 + a.row * planRow + planRow / 2 - 2);
  }
}

// marks are what concerns the whole run: the calm, the violation.
function marks(t) {
  const { m, x, theme } = t, c = t.base;
  c.font = "11px " + theme.sans;
  for (const [seq, color, text] of [[m.calm, theme.color.soft, "calm begins"], [m.violation, theme.color.bad, "✖ " + m.broken]]) {
    if (seq < 0) continue;
    const px = Math.round(x.px(seq)) + 0.5;
    if (px < x.left - 100 || px > t.width) continue;
    c.strokeStyle = c.fillStyle = color;
    c.lineWidth = seq === m.violation ? 2 : 1;
    c.setLineDash(seq === m.violation ? [] : [5, 4]);
    c.beginPath();
    c.moveTo(px, rulerHeight);
    c.lineTo(px, t.height);
    c.stroke();
    c.setLineDash([]);
    c.lineWidth = 1;
    const width = c.measureText(text).width, left = px + 4 + width > t.width ? px - 4 - width : px + 4;
    c.fillStyle = theme.color.card;
    c.fillRect(left - 2, t.height - 17, width + 4, 14);
    c.fillStyle = color;
    c.fillText(text, left, t.height - 9);
  }
}

// drawMessages draws the arrows in view: all of them, or where they are too many those that matter.
function drawMessages(t) {
  const { m, x, filter, theme } = t, c = t.base;
  t.hidden = 0;
  if (!t.messages) return;
  const first = x.first(), last = x.last();
  const begin = after(m.arrowReach, first - 1), end = after(m.arrowFrom, last);
  const weight = (i) => Math.max(m.weight[m.arrowFrom[i]], m.arrowTo[i] >= 0 ? m.weight[m.arrowTo[i]] : 0);
  const seen = (i) => filter.shown[m.arrowFrom[i]] || (m.arrowTo[i] >= 0 && filter.shown[m.arrowTo[i]]);
  const inView = (i) => m.arrowTo[i] < 0 ? m.arrowFrom[i] >= first : m.arrowTo[i] >= first;
  const levels = [0, 0, 0];
  for (let i = begin; i < end; i++) if (inView(i) && seen(i)) levels[weight(i)]++;
  const total = levels[0] + levels[1] + levels[2];
  let least = 0;
  for (let left = total; left > mostArrows && least < 3; least++) left -= levels[least];
  const heads = total < 400;
  for (let level = least; level < 3; level++) {
    c.beginPath();
    const lost = [];
    for (let i = begin; i < end; i++) {
      if (weight(i) !== level || !inView(i) || !seen(i)) continue;
      if (m.arrowTo[i] < 0) lost.push(i);
      else arrow(t, m.arrowFrom[i], m.arrowTo[i], heads);
    }
    c.globalAlpha = [0.22, 0.55, 0.95][level];
    c.strokeStyle = c.fillStyle = level === 2 ? theme.color.accent : theme.color.soft;
    c.stroke();
    c.globalAlpha = [0.5, 0.8, 1][level];
    c.strokeStyle = theme.color.bad;
    for (const i of lost) lostStub(t, m.arrowFrom[i]);
    c.globalAlpha = 1;
  }
  for (let level = 0; level < least; level++) t.hidden += levels[level];
}

function arrow(t, from, to, head) {
  const { m, x } = t, c = t.base;
  const x1 = x.px(from), y1 = t.middle(m.host[from]), x2 = x.px(to), y2 = t.middle(m.host[to]);
  c.moveTo(x1, y1);
  c.lineTo(x2, y2);
  if (!head) return;
  const a = Math.atan2(y2 - y1, x2 - x1);
  c.moveTo(x2 - 7 * Math.cos(a - 0.4), y2 - 7 * Math.sin(a - 0.4));
  c.lineTo(x2, y2);
  c.lineTo(x2 - 7 * Math.cos(a + 0.4), y2 - 7 * Math.sin(a + 0.4));
}

// lostStub is a message that never came: a dashed stub towards its receiver, with a cross at the end.
function lostStub(t, from) {
  const { m, x } = t, c = t.base, px = x.px(from), y = t.middle(m.host[from]);
  const to = m.peer[from] >= 0 ? Math.sign(t.middle(m.peer[from]) - y) : 1;
  const ex = px + 6, ey = y + to * Math.min(18, t.laneHeight / 3);
  c.setLineDash([3, 2]);
  c.beginPath();
  c.moveTo(px, y);
  c.lineTo(ex, ey);
  c.stroke();
  c.setLineDash([]);
  c.beginPath();
  c.moveTo(ex - 3, ey - 3);
  c.lineTo(ex + 3, ey + 3);
  c.moveTo(ex + 3, ey - 3);
  c.lineTo(ex - 3, ey + 3);
  c.stroke();
}

function drawEvents(t) {
  const { m, x, filter } = t, first = x.first(), last = x.last();
  let inView = 0;
  for (let i = first; i <= last; i++) inView += filter.shown[i];
  if (inView > mostGlyphs || inView > x.width * m.hosts.length * 0.6) return density(t, first, last);
  for (let i = first; i <= last; i++) if (filter.shown[i]) glyph(t.base, t, i);
  labels(t, first, last);
}

// density draws how many events there are at each pixel of each lane, and those of weight 2 as glyphs while there are not too many.
function density(t, first, last) {
  const { m, x, filter, theme } = t, c = t.base, hosts = m.hosts.length, width = Math.ceil(x.width) + 12;
  const counts = new Uint32Array(hosts * width), heavy = [];
  for (let i = first; i <= last; i++) {
    if (!filter.shown[i]) continue;
    if (m.weight[i] === 2) heavy.push(i);
    const h = m.host[i], px = Math.floor(x.px(i) - x.left);
    if (h >= 0 && px >= 0 && px < width) counts[h * width + px]++;
  }
  c.fillStyle = theme.color.soft;
  c.globalAlpha = 0.55;
  c.beginPath();
  const half = (t.laneHeight - t.bandHeight()) / 2 - 3;
  for (let h = 0; h < hosts; h++) {
    const y = t.middle(h);
    for (let px = 0; px < width; px++) {
      const n = counts[h * width + px];
      if (!n) continue;
      const size = Math.min(half, 1.5 + 1.8 * Math.log2(n));
      c.rect(x.left + px, y - size, 1, size * 2);
    }
  }
  c.fill();
  c.globalAlpha = 1;
  if (heavy.length > mostGlyphs) return;
  for (const i of heavy) glyph(c, t, i);
  if (heavy.length < 800) labels(t, first, last);
}

// glyph draws one event: the shape says its kind, the size its weight.
function glyph(c, t, seq) {
  const { m, x, theme } = t, kind = m.kinds[m.kind[seq]];
  if (m.host[seq] < 0 && (m.action[seq] || kind === "calm")) return; // the plan's lane has these
  const px = x.px(seq), y = t.middle(m.host[seq]);
  const w = m.weight[seq], r = (t.laneHeight < 40 ? 0.8 : 1) * (w === 2 ? 4.5 : w === 1 ? 3 : 2);
  c.globalAlpha = w === 0 ? 0.55 : 1;
  c.strokeStyle = c.fillStyle = glyphColor(kind, theme.color, w);
  shape(c, kind, px, y, r);
  c.globalAlpha = 1;
}

function glyphColor(kind, color, weight) {
  switch (kind) {
    case "violation": case "lost": return color.bad;
    case "action": case "undo": case "refused": case "down": case "hazard": return color.fault;
    case "protocol": return color.accent;
    case "boot": return color.good;
    case "disk": return color.log;
  }
  return weight === 2 ? color.ink : color.soft;
}

function shape(c, kind, px, y, r) {
  c.beginPath();
  switch (kind) {
    case "send":
      c.moveTo(px - r, y - r), c.lineTo(px + r, y), c.lineTo(px - r, y + r), c.closePath(), c.fill();
      return;
    case "protocol":
      c.moveTo(px, y - r - 1), c.lineTo(px + r + 1, y), c.lineTo(px, y + r + 1), c.lineTo(px - r - 1, y), c.closePath(), c.fill();
      return;
    case "disk":
      c.rect(px - r, y - r, 2 * r, 2 * r), c.fill();
      return;
    case "boot":
      c.moveTo(px, y - r - 1), c.lineTo(px + r + 1, y + r), c.lineTo(px - r - 1, y + r), c.closePath(), c.fill();
      return;
    case "down": case "lost": case "violation":
      c.lineWidth = 2;
      c.moveTo(px - r, y - r), c.lineTo(px + r, y + r), c.moveTo(px + r, y - r), c.lineTo(px - r, y + r), c.stroke();
      c.lineWidth = 1;
      return;
    case "action": case "undo": case "hazard":
      c.moveTo(px, y + r + 2), c.lineTo(px, y - r - 2), c.lineTo(px + r + 3, y - r / 2), c.lineTo(px, y);
      if (kind === "undo") c.stroke();
      else c.fill();
      return;
    case "refused": case "world":
      c.arc(px, y, r, 0, 7), c.stroke();
      return;
  }
  c.arc(px, y, r, 0, 7), c.fill();
}

// labels writes the text of turning points where there is room up to the next.
function labels(t, first, last) {
  const { m, x, filter, theme } = t, c = t.base;
  if (t.laneHeight < 40) return;
  c.font = "11px " + theme.sans;
  const pending = new Int32Array(m.hosts.length).fill(-1);
  const write = (h, until) => {
    const seq = pending[h], left = x.px(seq) + 7, room = Math.min(until, t.width) - left - 6;
    const text = room > 40 ? fitText(c, m.texts[m.text[seq]] || m.kinds[m.kind[seq]], room) : "";
    if (text.length < 6) return;
    c.fillStyle = theme.color.card;
    c.globalAlpha = 0.75;
    c.fillRect(left, t.middle(h) - 15, c.measureText(text).width, 12);
    c.globalAlpha = 1;
    c.fillStyle = theme.color.ink;
    c.fillText(text, left, t.middle(h) - 9);
  };
  for (let i = first; i <= last; i++) {
    const h = m.host[i];
    if (h < 0 || m.weight[i] < 2 || !filter.shown[i] || x.px(i) < x.left) continue;
    if (pending[h] >= 0) write(h, x.px(i));
    pending[h] = i;
  }
  for (let h = 0; h < pending.length; h++) if (pending[h] >= 0) write(h, t.width);
}
