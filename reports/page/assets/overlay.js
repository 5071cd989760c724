// What moves with the cursor: its line, the event, where it came from, what each host was then. And the strip above the lanes.

const longestChain = 24;

// chainOf lists an event and its causes, the event first.
function chainOf(m, seq) {
  const list = [];
  for (let at = seq; at >= 0 && list.length < longestChain; at = m.cause[at]) list.push(at);
  return list;
}

function drawOverlay(t) {
  const { m, x, theme, page } = t, c = t.over, seq = page.cursor;
  c.clearRect(0, 0, t.width, t.height);
  c.textBaseline = "middle";
  if (!m.n) return;
  drawStates(t, seq);
  c.save();
  c.beginPath();
  c.rect(x.left, 0, x.width + 10, t.height);
  c.clip();
  const px = Math.round(x.px(seq)) + 0.5;
  c.strokeStyle = theme.color.cursor;
  c.beginPath();
  c.moveTo(px, 0);
  c.lineTo(px, t.height);
  c.stroke();

  const chain = chainOf(m, seq);
  c.lineWidth = chain.length > 12 ? 1.2 : 2;
  c.globalAlpha = 0.75;
  c.beginPath();
  chain.forEach((at, i) => (i ? c.lineTo(x.px(at), t.middle(m.host[at])) : c.moveTo(x.px(at), t.middle(m.host[at]))));
  c.stroke();
  c.globalAlpha = 1;
  let [lastX, lastY] = [-1e9, 0]; // a ring at each, unless that would only make a worm
  for (const at of chain) {
    const cx = x.px(at), cy = t.middle(m.host[at]);
    if (at !== seq && Math.abs(cx - lastX) < 12 && cy === lastY) continue;
    ring(c, cx, cy, at === seq ? 8 : 4);
    [lastX, lastY] = [cx, cy];
  }
  c.lineWidth = 1;
  flag(t, px, seq);
  if (t.hidden) note(t, count(t.hidden) + " messages of little weight are not drawn: zoom in");
  c.restore();
}

function ring(c, px, y, r) {
  c.beginPath();
  c.arc(px, y, r, 0, 7);
  c.stroke();
}

// flag is the time of the cursor, in the ruler.
function flag(t, px, seq) {
  const { x, theme } = t, c = t.over, text = x.byOrder ? "#" + count(seq) : clock(t.m.at[seq]);
  c.font = "600 11px " + theme.sans;
  const width = c.measureText(text).width + 10, left = clamp(px - width / 2, x.left, t.width - width - 2);
  c.fillStyle = theme.color.cursor;
  c.fillRect(left, 1, width, rulerHeight - 5);
  c.fillStyle = theme.color.card;
  c.textAlign = "left";
  c.fillText(text, left + 5, rulerHeight / 2 - 1);
}

function note(t, text) {
  const { theme } = t, c = t.over;
  c.font = "11px " + theme.sans;
  const width = c.measureText(text).width;
  c.globalAlpha = 0.9;
  c.fillStyle = theme.color.card;
  c.fillRect(t.width - width - 16, rulerHeight + t.planHeight + t.bandHeight() + 4, width + 10, 16);
  c.globalAlpha = 1;
  c.fillStyle = theme.color.soft;
  c.fillText(text, t.width - width - 11, rulerHeight + t.planHeight + t.bandHeight() + 12);
}

// drawStates writes what each host is at the cursor under its name.
function drawStates(t, seq) {
  const { m, x, theme } = t, c = t.over;
  c.textAlign = "left";
  for (let h = 0; h < t.tops.length; h++) {
    const band = bandAt(m, h, seq), top = t.tops[h];
    c.fillStyle = theme.color[band.tone];
    c.fillRect(0, top + 1, 4, t.laneHeight - 1);
    if (t.laneHeight < 40) continue;
    c.font = "11px " + theme.sans;
    c.fillStyle = theme.color.ink;
    c.fillText(fitText(c, band.role + (band.epoch ? " e" + band.epoch : ""), x.left - 16), 8, top + 30);
    if (t.laneHeight < 56) continue;
    const hw = facetAt(m, h, "high-watermark", seq), end = facetAt(m, h, "log-end", seq);
    if (!hw && !end) continue;
    c.fillStyle = theme.color.soft;
    c.fillText(fitText(c, [hw && "hw " + hw, end && "end " + end].filter(Boolean).join(" / "), x.left - 16), 8, top + 45);
  }
}

// drawOverview draws the whole run in the strip: roles in rows, faults, the violation, and the part that is in view.
function drawOverview(t) {
  const { m, x, theme } = t, c = t.overview, width = t.overviewWidth, height = 34;
  const low = x.low(), all = x.high() - low, px = (seq) => ((x.value(seq) - low) / all) * width;
  c.clearRect(0, 0, width, height);
  const row = 26 / Math.max(1, m.hosts.length);
  m.bands.forEach((list, h) => {
    let drawn = -1;
    for (const b of list) {
      const right = px(b.to);
      if (right < drawn + 0.4) continue;
      c.globalAlpha = b.tone === "down" ? 0.35 : 0.8;
      c.fillStyle = theme.color[b.tone];
      c.fillRect(px(b.from), 6 + h * row, Math.max(0.7, right - px(b.from)), Math.max(0.7, row - 0.7));
      drawn = right;
    }
  });
  c.globalAlpha = 1;
  c.fillStyle = theme.color.fault;
  for (const a of m.struck) c.fillRect(px(a.from), 0, Math.max(1.5, a.to >= 0 ? px(a.to) - px(a.from) : 0), a.need === "necessary" ? 5 : 3);
  if (m.violation >= 0) (c.fillStyle = theme.color.bad), c.fillRect(px(m.violation) - 1, 0, 2, height);
  const a = ((x.from - low) / all) * width, b = ((x.to - low) / all) * width;
  c.fillStyle = theme.color.card;
  c.globalAlpha = 0.6;
  c.fillRect(0, 0, a, height);
  c.fillRect(b, 0, width - b, height);
  c.globalAlpha = 1;
  c.strokeStyle = theme.color.accent;
  c.lineWidth = 2;
  c.strokeRect(clamp(a, 1, width - 4), 1, Math.max(3, b - a - 1), height - 2);
  c.lineWidth = 1;
}
