// Texts and elements: how times, numbers and nodes of the document are made.

const $ = (id) => document.getElementById(id);

// el makes an element: its texts are always set as text, never as markup.
function el(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const name in attributes) {
    if (name === "class") e.className = attributes[name];
    else if (name.startsWith("on")) e.addEventListener(name.slice(2), attributes[name]);
    else e.setAttribute(name, attributes[name]);
  }
  e.append(...children);
  return e;
}

// clock prints microseconds of virtual time in full: 1.234567 s, 1:02.500000.
function clock(us) {
  const s = us / 1e6;
  if (s < 60) return s.toFixed(6) + " s";
  const minutes = Math.floor(s / 60);
  return minutes + ":" + (s - minutes * 60).toFixed(6).padStart(9, "0");
}

// shortClock prints what tells neighbouring ticks apart and no more: 12 s, 12.5 s, 0.012 s.
function shortClock(us, stepUs) {
  const digits = stepUs >= 1e6 ? 0 : Math.min(6, Math.ceil(-Math.log10(stepUs / 1e6) - 1e-9));
  const s = us / 1e6;
  if (s < 60) return s.toFixed(digits) + " s";
  const minutes = Math.floor(s / 60 + 1e-9);
  return minutes + ":" + Math.max(0, s - minutes * 60).toFixed(digits).padStart(digits ? digits + 3 : 2, "0");
}

// span prints a length of time in the unit that people would use.
function span(us) {
  if (us < 1000) return us + " µs";
  if (us < 1e6) return (us / 1000).toPrecision(3) + " ms";
  return (us / 1e6).toPrecision(3) + " s";
}

function count(n) {
  return n.toLocaleString("en-US");
}

function clamp(v, low, high) {
  return v < low ? low : v > high ? high : v;
}

// after returns the first index of a sorted array whose value is above v.
function after(sorted, v) {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= v) low = middle + 1;
    else high = middle;
  }
  return low;
}
