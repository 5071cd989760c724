// The list of events: only the rows in view are in the document.

const rowHeight = 21;

function buildList(m, filter, page) {
  const box = $("events"), inner = el("div", { style: "position:relative", role: "presentation" });
  box.replaceChildren(inner);
  const l = {};
  let drawn = [-1, -1];

  l.refresh = () => {
    inner.style.height = filter.list.length * rowHeight + "px";
    drawn = [-1, -1];
    l.draw();
  };
  l.draw = () => {
    const first = Math.max(0, Math.floor(box.scrollTop / rowHeight) - 4);
    const last = Math.min(filter.list.length, first + Math.ceil(box.clientHeight / rowHeight) + 8);
    if (first === drawn[0] && last === drawn[1]) return l.mark();
    drawn = [first, last];
    const rows = [];
    for (let i = first; i < last; i++) rows.push(row(filter.list[i], i));
    if (!filter.list.length) rows.push(el("p", { class: "empty" }, "No event matches the filter."));
    inner.replaceChildren(...rows);
  };
  const row = (seq, i) =>
    el("div", {
      class: "row" + (m.weight[seq] === 2 ? " turning" : m.weight[seq] === 0 ? " noise" : "") + (seq === page.cursor ? " now" : ""),
      style: `top:${i * rowHeight}px`, "data-seq": seq, role: "option", id: "event-" + seq, title: sentence(m, seq),
      "aria-selected": seq === page.cursor, onclick: () => page.go(seq),
    },
      el("span", { class: "r-seq" }, String(seq)), el("span", { class: "r-time" }, clock(m.at[seq]).replace(" s", "")),
      el("span", { class: "r-host" }, where(m, seq).split("/")[0]), el("span", { class: "r-kind" }, m.kinds[m.kind[seq]]),
      el("span", { class: "r-text" }, m.texts[m.text[seq]]));
  l.mark = () => {
    for (const e of inner.children) {
      const now = e.dataset.seq === String(page.cursor);
      e.classList.toggle("now", now);
      e.setAttribute("aria-selected", now);
    }
  };
  // show scrolls so that the event, or the last one before it that the filter shows, is in view.
  l.show = (seq) => {
    const i = Math.max(0, after(filter.list, seq) - 1), top = i * rowHeight;
    if (top < box.scrollTop + rowHeight || top > box.scrollTop + box.clientHeight - 2 * rowHeight) {
      box.scrollTop = top - box.clientHeight / 2;
    }
    l.draw();
    l.mark();
    box.setAttribute("aria-activedescendant", "event-" + seq);
  };
  box.addEventListener("scroll", l.draw);
  return l;
}
