// The state of every node at the cursor. What the event at the cursor changed is marked. Few hosts stand side by side, with a row a facet, so
// that they compare; many stand one below the other, with a column a facet.

const mostSideBySide = 8;

function drawNodes(m, page) {
  const names = m.facetNames.filter((name) => m.hosts.some((_, h) => m.facets[h].has(name)));
  const rows = m.hosts.length <= mostSideBySide ? sideBySide(m, page, names) : oneBelowTheOther(m, page, names);
  $("nodes").replaceChildren(el("thead", {}, rows[0]), el("tbody", {}, ...rows.slice(1)));
}

function sideBySide(m, page, names) {
  const head = el("tr", {}, el("th", { scope: "col" }, ""), ...m.hosts.map((_, h) => el("th", { scope: "col" }, hostButton(m, page, h))));
  const row = (name, cell) => el("tr", {}, el("th", { scope: "row" }, name), ...m.hosts.map((_, h) => cell(h)));
  return [head, row("process", (h) => processCell(m, page, h)), ...names.map((name) => row(name, (h) => facetCell(m, page, h, name)))];
}

function oneBelowTheOther(m, page, names) {
  const head = el("tr", {}, ...["host", "process", ...names].map((name) => el("th", { scope: "col" }, name)));
  return [head, ...m.hosts.map((_, h) => el("tr", { class: page.logHost === h ? "chosen" : "" }, el("th", { scope: "row" }, hostButton(m, page, h)),
    processCell(m, page, h), ...names.map((name) => facetCell(m, page, h, name))))];
}

function hostButton(m, page, h) {
  const host = m.hosts[h];
  return el("button", { type: "button", title: [host.id, host.kind, host.release].filter(Boolean).join(" · ") + ": show its log", onclick: () => page.chooseHost(h) }, host.id);
}

function processCell(m, page, h) {
  const seq = page.cursor, now = bandAt(m, h, seq), before = seq > 0 ? bandAt(m, h, seq - 1) : now;
  const up = (band) => (band.tone === "down" ? band.role : "up" + (band.boot ? " #" + band.boot : ""));
  return el("td", { class: up(before) !== up(now) ? "changed" : "" }, up(now));
}

function facetCell(m, page, h, name) {
  const seq = page.cursor, value = facetAt(m, h, name, seq), changed = seq > 0 && facetAt(m, h, name, seq - 1) !== value;
  const cell = el("td", { class: (changed ? "changed " : "") + (value.length > 18 ? "wide" : ""), "data-facet": name, "data-host": m.hosts[h].id });
  if (name === "role" && value) cell.append(el("span", { class: "chip", style: `background:var(--${tone(value)})` }, value));
  else cell.textContent = value || "·";
  return cell;
}
