// The log of one host at the cursor, or those of all hosts side by side. The last entries are shown: what came before rarely matters, and
// is one line.

const mostEntries = 200, mostRows = 60;

function buildLogs(m, page) {
  const select = $("log-host");
  select.append(el("option", { value: "-1" }, "all hosts, side by side"));
  m.hosts.forEach((h, i) => select.append(el("option", { value: String(i) }, h.id)));
  select.value = String(page.logHost);
  select.addEventListener("change", () => page.chooseHost(Number(select.value)));
}

function drawLogs(m, page) {
  const seq = page.cursor, key = logKey(m, page);
  if (key === page.logKey) return; // what is shown is what would be drawn
  page.logKey = key;
  $("log-host").value = String(page.logHost);
  if (page.logHost >= 0) drawOneLog(m, page.logHost, seq);
  else drawAllLogs(m, seq);
}

// logKey is the same for two events when the logs shown are, marks included.
function logKey(m, page) {
  const hosts = page.logHost >= 0 ? [page.logHost] : m.hosts.keys(), parts = [page.logHost];
  for (const h of hosts) {
    const edits = m.logs[h].edits, last = after(edits, page.cursor) - 1;
    parts.push(last, last >= 0 && edits[last] === page.cursor, highWatermark(m, h, page.cursor));
  }
  return parts.join();
}

function highWatermark(m, host, seq) {
  const value = parseInt(facetAt(m, host, "high-watermark", seq), 10);
  return Number.isNaN(value) ? -1 : value;
}

function drawOneLog(m, host, seq) {
  const log = m.logs[host], length = logLength(m, host, seq), high = highWatermark(m, host, seq);
  const start = after(log.startSeq, seq) - 1, shown = logAt(m, host, seq, mostEntries);
  const facts = [length ? count(length) + (length === 1 ? " entry" : " entries") : "no entries"];
  if (start >= 0) facts.push("starts at " + log.start[start]);
  if (high >= 0) facts.push("committed below " + high);
  let lost = 0;
  for (const died of log.died) if (died === seq) lost++;
  if (lost) facts.push(lost + " gone with this event");
  $("log-facts").textContent = facts.join(" · ");
  const rows = shown.map((i) =>
    el("tr", { class: log.born[i] === seq ? "new" : "" }, el("td", { class: "num" }, String(log.offset[i])), el("td", { class: "num" }, String(log.epoch[i])),
      el("td", { title: "below the high watermark" }, high > log.offset[i] ? "✓" : ""), el("td", { class: "text" }, m.texts[log.text[i]])));
  if (shown.length < length) rows.unshift(el("tr", {}, el("td", { colspan: "4" }, "… " + count(length - shown.length) + " entries before")));
  fill([["offset", "num"], ["epoch", "num"], ["✓", ""], ["record", ""]], rows);
}

// drawAllLogs has a row an offset. Where hosts that have the offset do not have the same there, the cells are marked.
function drawAllLogs(m, seq) {
  const lists = m.hosts.map((_, h) => logAt(m, h, seq, mostRows));
  let low = Infinity, high = -1;
  lists.forEach((list, h) => {
    if (!list.length) return;
    low = Math.min(low, m.logs[h].offset[list[0]]);
    high = Math.max(high, m.logs[h].offset[list[list.length - 1]]);
  });
  low = Math.max(low, high - mostRows + 1);
  const next = lists.map((list, h) => {
    let i = list.length;
    while (i > 0 && m.logs[h].offset[list[i - 1]] >= low) i--;
    return i;
  });
  const rows = [];
  let differing = 0;
  for (let offset = low; offset <= high; offset++) {
    const at = lists.map((list, h) => {
      const i = next[h];
      if (i >= list.length || m.logs[h].offset[list[i]] !== offset) return -1;
      next[h]++;
      return list[i];
    });
    const have = at.map((i, h) => (i < 0 ? null : m.logs[h].epoch[i] + " " + m.logs[h].text[i])).filter((v) => v !== null);
    if (!have.length) continue;
    const differs = have.some((v) => v !== have[0]);
    if (differs) differing++;
    rows.push(el("tr", {}, el("td", { class: "num" }, (differs ? "≠ " : "") + offset),
      ...at.map((i, h) => {
        if (i < 0) return el("td", {}, "·");
        const log = m.logs[h], text = m.texts[log.text[i]], committed = highWatermark(m, h, seq) > offset ? " ✓" : "";
        return el("td", { class: (differs ? "differs" : "") + (log.born[i] === seq ? " changed" : ""), title: text }, "e" + log.epoch[i] + committed + " " + short(text));
      })));
  }
  $("log-facts").textContent = rows.length ? (differing ? "≠ " + differing + (differing === 1 ? " offset" : " offsets") + " at which logs differ" : "no two logs differ at an offset that both have") + "; e7: of epoch 7; ✓: committed"
    : "no log has entries here";
  fill([["offset", "num"], ...m.hosts.map((h) => [h.id, ""])], rows);
}

function short(text) {
  return text.length > 28 ? text.slice(0, 27) + "…" : text;
}

// fill shows rows, and keeps the end of the table in view when it was.
function fill(heads, rows) {
  const box = $("log-scroll"), atEnd = box.scrollTop + box.clientHeight >= box.scrollHeight - 30;
  $("log").replaceChildren(el("thead", {}, el("tr", {}, ...heads.map(([text, kind]) => el("th", { scope: "col", class: kind }, text)))), el("tbody", {}, ...rows));
  if (atEnd) box.scrollTop = box.scrollHeight;
}
