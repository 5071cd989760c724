// The keyboard. Keys with Ctrl, Alt or the system's key are the browser's.

function buildKeys(m, page, t) {
  const keys = {
    ArrowLeft: (e) => (e.shiftKey ? page.turning(-1) : page.step(-1)), ArrowRight: (e) => (e.shiftKey ? page.turning(1) : page.step(1)),
    ArrowUp: () => page.onHost(-1), ArrowDown: () => page.onHost(1), PageUp: () => page.step(-50), PageDown: () => page.step(50),
    Home: () => page.step(-m.n), End: () => page.step(m.n),
    "[": () => page.go(m.cause[page.cursor] >= 0 ? m.cause[page.cursor] : page.cursor), "]": page.effect,
    v: page.toViolation, "+": () => page.zoom(2), "=": () => page.zoom(2), "-": () => page.zoom(0.5), 0: page.fit,
    a: () => page.move(-0.25), s: () => page.move(0.25), t: page.turnAxis, m: () => $("show-messages").click(),
    l: () => page.chooseHost(page.logHost + 1 >= m.hosts.length ? -1 : page.logHost + 1), d: page.theme.next,
    "/": () => setTimeout(() => $("search").focus()) /* after the key itself */, "?": () => $("help").showModal(),
  };
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || $("help").open) return;
    const at = e.target, typing = at.matches("input[type=search], select, textarea");
    if (e.key === "Escape" && at === $("search")) return page.clearFilter();
    if (e.key === "Enter" && at === $("search")) return t.page.firstMatch();
    if (typing) return;
    // Tables that scroll keep the keys that scroll.
    if (at.classList?.contains("scroll") && /^(ArrowUp|ArrowDown|PageUp|PageDown|Home|End)$/.test(e.key)) return;
    const key = keys[e.key.length === 1 ? e.key.toLowerCase() : e.key];
    if (!key) return;
    e.preventDefault();
    key(e);
  });
}
