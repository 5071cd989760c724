// The state of every node at the cursor: a row a host, a column a facet. What the event at the cursor changed is marked.

function drawNodes(m, page) {
  const seq = page.cursor, names = m.facetNames.filter((name) => m.hosts.some((_, h) => m.facets[h].has(name)));
  const head = el("tr", {}, el("th", { scope: "col" }, "host"), el("th", { scope: "col" }, "process"));
  for (const name of names) head.append(el("th", { scope: "col" }, name));
  const rows = m.hosts.map((host, h) => {
    const band = bandAt(m, h, seq), life = band.boot ? " #" + band.boot : "";
    const up = band.tone === "down" ? band.role : "up" + life;
    const before = seq > 0 ? bandAt(m, h, seq - 1) : band;
    const row = el("tr", { class: page.logHost === h ? "chosen" : "", "data-host": host.id, onclick: () => page.chooseHost(h) },
      el("th", { scope: "row" }, el("button", { type: "button", title: [host.kind, host.release].filter(Boolean).join(" ") }, host.id)),
      el("td", { class: before.boot !== band.boot || (before.tone === "down") !== (band.tone === "down") ? "changed" : "" }, up));
    for (const name of names) {
      const value = facetAt(m, h, name, seq), changed = seq > 0 && facetAt(m, h, name, seq - 1) !== value;
      const cell = el("td", { class: (changed ? "changed" : "") + (/^-?\d+$/.test(value) ? " num" : ""), "data-facet": name });
      if (name === "role" && value) cell.append(el("span", { class: "chip", style: `background:var(--${tone(value)})` }, value));
      else cell.textContent = value || "·";
      row.append(cell);
    }
    return row;
  });
  $("nodes").replaceChildren(el("thead", {}, head), el("tbody", {}, ...rows));
}
