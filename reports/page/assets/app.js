// The page: the cursor, and what follows it.

function buildPage(m) {
  const page = { cursor: 0, logHost: m.hosts.length > 1 && m.hosts.length <= 9 ? -1 : m.hosts.length ? 0 : -1 };
  const filter = buildFilter(m), x = buildAxis(m);
  const list = buildList(m, filter, page);
  let t = null;
  page.theme = buildTheme(() => t && (t.draw(), legend(page.theme)));
  t = buildTimeline(m, x, filter, page.theme, page);

  // go moves the cursor to an event. still: the view stays where it is as far as it can.
  page.go = (seq, how) => {
    page.cursor = clamp(seq, 0, m.n - 1);
    const moved = !(how?.still && x.px(page.cursor) >= x.left) && x.reveal(page.cursor);
    t.draw(moved ? "all" : "over");
    show();
  };
  page.step = (n) => page.go(filter.step(page.cursor, n));
  page.turning = (d) => {
    let i = page.cursor + d;
    while (i >= 0 && i < m.n && !(m.weight[i] >= Math.max(1, m.maxWeight) && filter.shown[i])) i += d;
    if (i >= 0 && i < m.n) page.go(i);
  };
  page.onHost = (d) => {
    const mine = m.byHost[m.host[page.cursor] < 0 ? m.hosts.length : m.host[page.cursor]];
    let i = after(mine, page.cursor) - 1 + d;
    while (i >= 0 && i < mine.length && !filter.shown[mine[i]]) i += d;
    if (i >= 0 && i < mine.length) page.go(mine[i]);
  };
  page.effect = () => {
    const first = m.effectStart[page.cursor];
    if (first < m.effectStart[page.cursor + 1]) page.go(m.effectList[first]);
  };
  page.toViolation = () => m.violation >= 0 && page.go(m.violation);
  page.zoom = (factor, around) => (x.zoom(factor, around ?? x.value(page.cursor)), t.draw());
  page.move = (share) => (x.move(share), t.draw());
  page.fit = () => (x.fit(), t.draw());
  page.turnAxis = () => {
    x.turn();
    $("axis").setAttribute("aria-pressed", x.byOrder);
    t.draw();
  };
  page.chooseHost = (h) => {
    if (h < -1) return;
    page.logHost = h;
    drawNodes(m, page);
    drawLogs(m, page);
  };
  page.filter = () => {
    filter.set($("search").value, Number($("weight").value));
    $("matches").textContent = filter.active ? count(filter.list.length) + " of " + count(m.n) : "";
    list.refresh();
    list.show(page.cursor);
    t.draw();
  };
  page.clearFilter = () => (($("search").value = ""), page.filter(), $("lanes").focus());
  page.firstMatch = () => (page.filter(), filter.list.length && page.go(filter.shown[page.cursor] ? page.cursor : filter.step(page.cursor, 1)), $("lanes").focus());

  let addressing = 0;
  const show = () => {
    const seq = page.cursor;
    $("scrub").value = seq;
    $("scrub").setAttribute("aria-valuetext", "event " + seq + " at " + clock(m.at[seq]) + ", " + where(m, seq));
    $("cursor-where").textContent = "#" + seq + " · " + clock(m.at[seq]) + " · " + where(m, seq);
    $("cursor-text").textContent = sentence(m, seq);
    drawChain(m, page);
    drawNodes(m, page);
    drawLogs(m, page);
    list.show(seq);
    for (const line of document.querySelectorAll("#story li")) {
      line.classList.toggle("now", line.firstElementChild?.dataset?.event === String(seq));
    }
    clearTimeout(addressing); // browsers refuse to be told too often
    addressing = setTimeout(() => history.replaceState(null, "", "#e=" + seq), 250);
  };
  page.start = () => {
    t.layout();
    x.fit();
    page.theme.apply();
    list.refresh();
    const asked = /^#e=(\d+)$/.exec(location.hash);
    page.go(asked ? Number(asked[1]) : m.violation >= 0 ? m.violation : m.n - 1, { still: true });
    t.drawNow();
  };
  buildLogs(m, page);
  buildKeys(m, page, t);
  wire(m, page, t);
  return page;
}

// drawChain lists where the event at the cursor came from, and what it brought about.
function drawChain(m, page) {
  const line = (mark, seq) =>
    el("button", { type: "button", onclick: () => page.go(seq), title: sentence(m, seq) }, `${mark} #${seq} ${clock(m.at[seq])} ${where(m, seq)} ${sentence(m, seq)}`);
  const rows = chainOf(m, page.cursor).slice(1, 5).map((seq, i) => line("  ".repeat(i) + "↖ because of", seq));
  const from = m.effectStart[page.cursor], to = m.effectStart[page.cursor + 1];
  for (let i = from; i < Math.min(to, from + 3); i++) rows.push(line("↘ led to", m.effectList[i]));
  if (to - from > 3) rows.push(el("span", {}, "… and " + (to - from - 3) + " more"));
  $("chain").replaceChildren(...rows);
}

function legend(theme) {
  const items = [["leader", "leader"], ["candidate", "candidate, prospective"], ["follower", "follower"], ["observer", "observer"], ["idle", "other roles"], ["resigned", "resigned"], ["down", "down"]];
  const nodes = items.map(([tone, text]) => swatch(text, 18, (c) => {
    c.fillStyle = theme.color[tone];
    c.fillRect(0, 3, 18, 9);
    if (tone === "candidate") hatch(c, 0, 3, 18, 9, theme.color["on-role"], 5, 1);
    if (tone === "down") (c.clearRect(0, 3, 18, 9), hatch(c, 0, 3, 18, 9, theme.color.down, 5, -1));
  }));
  for (const [kind, text] of [["input", "input"], ["send", "send"], ["protocol", "protocol event"], ["disk", "disk"], ["boot", "boot"], ["down", "end of a process"], ["lost", "lost from a disk"]]) {
    nodes.push(swatch(text, 14, (c) => {
      c.fillStyle = c.strokeStyle = glyphColor(kind, theme.color, 1);
      shape(c, kind, 7, 7.5, 3.5);
    }));
  }
  nodes.push(swatch("fault, ● necessary", 16, (c) => {
    c.fillStyle = c.strokeStyle = theme.color.fault;
    c.globalAlpha = 0.3;
    c.fillRect(4, 3, 12, 9);
    c.globalAlpha = 1;
    c.lineWidth = 2;
    c.strokeRect(4, 3, 11, 9);
    c.beginPath(), c.arc(4, 7.5, 3.5, 0, 7), c.fill();
  }), swatch("log end", 18, (c) => {
    c.globalAlpha = 0.4;
    c.fillStyle = theme.color.log;
    c.fillRect(0, 8, 9, 6), c.fillRect(9, 4, 9, 10);
  }), swatch("high watermark", 18, (c) => {
    c.strokeStyle = theme.color.hw;
    c.lineWidth = 1.5;
    c.beginPath(), c.moveTo(0, 12), c.lineTo(9, 12), c.lineTo(9, 6), c.lineTo(18, 6), c.stroke();
  }));
  $("legend").replaceChildren(...nodes);
}

function swatch(text, width, draw) {
  const canvas = el("canvas", { width: width * 2, height: 30, style: `width:${width}px;height:15px`, "aria-hidden": "true" });
  const c = canvas.getContext("2d");
  c.scale(2, 2);
  draw(c);
  return el("span", {}, canvas, text);
}

// wire connects the buttons.
function wire(m, page, t) {
  const on = (id, do_) => $(id).addEventListener("click", do_);
  on("first", () => page.step(-m.n)), on("back", () => page.step(-1)), on("forward", () => page.step(1)), on("last", () => page.step(m.n));
  on("to-violation", page.toViolation), on("zoom-in", () => page.zoom(2)), on("zoom-out", () => page.zoom(0.5)), on("fit", page.fit);
  on("axis", page.turnAxis), on("theme", page.theme.next), on("help-open", () => $("help").showModal());
  $("to-violation").hidden = m.violation < 0;
  $("to-violation").textContent = "✖ " + m.broken;
  $("show-messages").addEventListener("change", (e) => ((t.messages = e.target.checked), t.draw()));
  $("scrub").max = Math.max(0, m.n - 1);
  $("scrub").addEventListener("input", (e) => page.go(Number(e.target.value)));
  let waiting = 0;
  $("search").addEventListener("input", () => (clearTimeout(waiting), (waiting = setTimeout(page.filter, 120))));
  $("weight").addEventListener("change", page.filter);
  for (const line of document.querySelectorAll("button.line")) line.addEventListener("click", () => page.go(Number(line.dataset.event)));
  $("copy")?.addEventListener("click", copyCommand);
  addEventListener("hashchange", (e) => { // the address may have moved on since
    const asked = /#e=(\d+)$/.exec(e.newURL);
    if (asked) page.go(Number(asked[1]));
  });
}

async function copyCommand() {
  const text = $("command").textContent;
  try {
    await navigator.clipboard.writeText(text);
    $("copy").textContent = "Copied";
  } catch { // a page from a file may not write to the clipboard: mark it for the reader's own key
    const range = document.createRange();
    range.selectNodeContents($("command"));
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    $("copy").textContent = "Marked: press Ctrl C";
  }
  setTimeout(() => ($("copy").textContent = "Copy"), 2500);
}

readData().then((d) => {
  if (!d.at.length) {
    $("broken-page").textContent = "No event was recorded.";
    $("broken-page").hidden = false;
    document.documentElement.dataset.ready = "empty";
    return;
  }
  for (const id of ["timeline-section", "cursor-section", "panels"]) $(id).hidden = false;
  buildPage(buildModel(d)).start();
  document.documentElement.dataset.ready = "true";
}).catch((e) => {
  $("broken-page").textContent = "The history cannot be shown: " + e.message;
  $("broken-page").hidden = false;
  document.documentElement.dataset.ready = "failed";
  throw e;
});
