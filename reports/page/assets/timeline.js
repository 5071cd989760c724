// The timeline: its layout, when it is drawn, and the mouse. What is drawn stands in lanes.js and overlay.js.

const rulerHeight = 22, planRow = 16;

function buildTimeline(m, x, filter, theme, page) {
  const t = { m, x, filter, theme, page, tops: [], laneHeight: 60, planTop: rulerHeight, planHeight: 0, messages: true, hidden: 0 };
  const box = $("lanes"), base = $("base"), over = $("over"), overview = $("overview");
  t.base = base.getContext("2d");
  t.over = over.getContext("2d");
  t.overview = overview.getContext("2d");

  t.layout = () => {
    const width = Math.max(200, box.clientWidth), hosts = m.hosts.length;
    t.laneHeight = clamp(Math.floor(300 / Math.max(1, hosts)), 26, 76);
    x.left = width < 600 ? 76 : 132;
    x.width = width - x.left - 10;
    t.planHeight = Math.max(1, m.actionRows) * planRow + 8;
    let y = rulerHeight + t.planHeight;
    t.tops = m.hosts.map(() => (y += t.laneHeight) - t.laneHeight);
    t.width = width;
    t.height = y + 2;
    const ratio = window.devicePixelRatio || 1;
    for (const [canvas, w, h] of [[base, width, t.height], [over, width, t.height], [overview, overview.clientWidth || width, 34]]) {
      canvas.width = Math.round(w * ratio);
      canvas.height = Math.round(h * ratio);
      if (canvas !== overview) (canvas.style.width = w + "px"), (canvas.style.height = h + "px");
      canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    box.style.height = t.height + 2 + "px";
    t.overviewWidth = overview.clientWidth || width;
    t.overviewImage = null;
  };

  let wanted = 0;
  t.stale = { base: true, over: true };
  t.draw = (what) => {
    t.stale.over = true;
    if (what !== "over") t.stale.base = true;
    if (!wanted) wanted = requestAnimationFrame(t.drawNow);
  };
  t.drawNow = () => {
    cancelAnimationFrame(wanted);
    wanted = 0;
    if (t.stale.base) drawLanes(t), drawOverview(t);
    if (t.stale.over) drawOverlay(t);
    t.stale = { base: false, over: false };
  };

  t.middle = (host) => (host < 0 || host >= t.tops.length ? t.planTop + t.planHeight / 2 : t.tops[host] + t.bandHeight() + (t.laneHeight - t.bandHeight()) / 2);
  t.bandHeight = () => (t.laneHeight >= 60 ? 18 : t.laneHeight >= 40 ? 15 : 12);
  t.hostAt = (y) => {
    for (let h = 0; h < t.tops.length; h++) if (y >= t.tops[h] && y < t.tops[h] + t.laneHeight) return h;
    return y >= t.planTop && y < t.planTop + t.planHeight ? -1 : -2;
  };
  // nearest returns the shown event of a lane that is at most so many pixels away, or -1.
  t.nearest = (px, y, within) => {
    const host = t.hostAt(y);
    if (host === -2) return -1;
    const list = m.byHost[host < 0 ? m.hosts.length : host];
    let best = -1, distance = within + 0.01;
    const middle = after(list, x.seq(x.at(px)));
    for (let i = Math.max(0, middle - 40); i < Math.min(list.length, middle + 40); i++) {
      if (!filter.shown[list[i]]) continue;
      const d = Math.abs(x.px(list[i]) - px) - m.weight[list[i]] * 0.5; // of two at one place the weightier
      if (d < distance) (best = list[i]), (distance = d);
    }
    return best;
  };
  mouse(t, box, overview);
  return t;
}

// mouse: click goes there, drag moves the view, wheel with Ctrl zooms, double click zooms in.
function mouse(t, box, overview) {
  const { m, x, page } = t;
  let drag = null;
  const place = (e) => {
    const r = box.getBoundingClientRect();
    return [e.clientX - r.left, e.clientY - r.top];
  };
  const scrub = (px) => page.go(x.seq(x.at(px)), { still: true });
  box.addEventListener("pointerdown", (e) => {
    if (e.button !== 0) return;
    const [px, y] = place(e);
    drag = { px, y, from: x.from, to: x.to, moved: false, ruler: y < rulerHeight };
    box.setPointerCapture(e.pointerId);
    if (drag.ruler) scrub(px);
  });
  box.addEventListener("pointermove", (e) => {
    const [px, y] = place(e);
    if (!drag) return tip(t, px, y);
    if (drag.ruler) return scrub(px);
    if (!drag.moved && Math.abs(px - drag.px) < 4) return;
    drag.moved = true;
    const by = ((drag.px - px) / x.width) * (drag.to - drag.from);
    const move = clamp(by, x.low() - drag.from, x.high() - drag.to);
    x.from = drag.from + move;
    x.to = drag.to + move;
    t.draw();
  });
  box.addEventListener("pointerup", (e) => {
    const [px, y] = place(e);
    if (drag && !drag.moved && !drag.ruler) {
      const hit = t.nearest(px, y, 9);
      if (px < x.left) page.chooseHost(t.hostAt(y));
      else page.go(hit >= 0 ? hit : x.seq(x.at(px)), { still: true });
    }
    drag = null;
  });
  box.addEventListener("pointercancel", () => (drag = null));
  box.addEventListener("pointerleave", () => ($("tip").hidden = true));
  box.addEventListener("dblclick", (e) => page.zoom(4, x.at(place(e)[0])));
  box.addEventListener("wheel", (e) => {
    if (e.ctrlKey || e.metaKey) {
      e.preventDefault();
      page.zoom(Math.exp(-e.deltaY / 300), x.at(place(e)[0]));
    } else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
      e.preventDefault();
      page.move((e.deltaX || e.deltaY) / x.width);
    }
  }, { passive: false });

  const over = (e) => {
    const share = clamp((e.clientX - overview.getBoundingClientRect().left) / t.overviewWidth, 0, 1);
    return x.low() + share * (x.high() - x.low());
  };
  let holding = false;
  const centre = (e) => {
    const half = (x.to - x.from) / 2, at = over(e);
    x.show(at - half, at + half);
    t.draw();
  };
  overview.addEventListener("pointerdown", (e) => {
    holding = true;
    overview.setPointerCapture(e.pointerId);
    centre(e);
  });
  overview.addEventListener("pointermove", (e) => holding && centre(e));
  overview.addEventListener("pointerup", () => (holding = false));
  overview.addEventListener("wheel", (e) => {
    e.preventDefault();
    page.zoom(Math.exp(-e.deltaY / 300), over(e));
  }, { passive: false });
  new ResizeObserver(() => {
    if (box.clientWidth !== t.width && box.clientWidth > 0) t.layout(), t.draw();
  }).observe(box);
  return m;
}

// tip says what is under the mouse.
function tip(t, px, y) {
  const { m } = t, box = $("tip");
  let text = "";
  if (px < t.x.left) {
    const host = m.hosts[t.hostAt(y)];
    if (host) text = [host.id, host.kind, host.release].filter(Boolean).join(" · ");
  } else {
    const hit = t.nearest(px, y, 8);
    if (hit >= 0) text = clock(m.at[hit]) + "  " + where(m, hit) + "  " + sentence(m, hit);
    else {
      const a = actionUnder(t, px, y), host = t.hostAt(y);
      if (a) text = a.text + (a.need ? " (" + a.need + ")" : "");
      else if (host >= 0) text = m.hosts[host].id + ": " + bandAt(m, host, t.x.seq(t.x.at(px))).label;
    }
  }
  box.hidden = !text;
  if (!text) return;
  box.textContent = text;
  box.style.left = clamp(px + 12, 0, Math.max(0, t.width - box.offsetWidth - 8)) + "px";
  box.style.top = (y + 18 + box.offsetHeight > t.height ? y - box.offsetHeight - 8 : y + 16) + "px";
}

// actionUnder returns the action whose bar or flag in the plan's lane is under a place.
function actionUnder(t, px, y) {
  const row = Math.floor((y - t.planTop - 3) / planRow);
  return t.m.struck.find((a) => a.row === row && px >= t.x.px(a.from) - 6 && px <= Math.max(t.x.px(a.to >= 0 ? a.to : a.from), t.x.px(a.from)) + 12);
}
