// Colours: light, dark, or what the system says. The canvas takes them from the style sheet.

const themes = ["auto", "light", "dark"];

function buildTheme(changed) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const t = { choice: "auto", color: {} };
  try { // a page from a file may have no storage
    t.choice = themes.includes(localStorage.getItem("theme")) ? localStorage.getItem("theme") : "auto";
  } catch { /* then it is auto */ }

  t.apply = () => {
    const name = t.choice === "auto" ? (dark.matches ? "dark" : "light") : t.choice;
    document.documentElement.dataset.theme = name;
    $("theme-name").textContent = t.choice;
    const style = getComputedStyle(document.documentElement);
    for (const c of ["bg", "card", "ink", "soft", "line", "grid", "accent", "bad", "good", "mark", "cursor", "lane", "fault", "hw", "log",
      "leader", "candidate", "follower", "observer", "idle", "resigned", "down", "on-role"]) {
      t.color[c] = style.getPropertyValue("--" + c).trim();
    }
    t.mono = style.getPropertyValue("--mono").trim();
    t.sans = style.getPropertyValue("--sans").trim();
    changed();
  };
  t.next = () => {
    t.choice = themes[(themes.indexOf(t.choice) + 1) % themes.length];
    try {
      localStorage.setItem("theme", t.choice);
    } catch { /* not kept */ }
    t.apply();
  };
  dark.addEventListener("change", t.apply);
  return t;
}
