// The history as the page carries it: gzip in base64 (the alphabet for URLs), JSON inside, columns by event.

async function readData() {
  const text = $("data").textContent.trim();
  const raw = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  $("data").textContent = "";
  if (typeof DecompressionStream === "undefined") {
    throw new Error("this browser cannot unpack the history: it needs DecompressionStream (Chrome 80, Firefox 113, Safari 16.4)");
  }
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// columns turns the document's arrays into typed ones, and deltas of time into times.
function columns(d) {
  const n = d.at.length;
  const at = new Float64Array(n);
  let now = 0;
  for (let i = 0; i < n; i++) at[i] = now += d.at[i];
  const ints = (list) => Int32Array.from(list);
  return {
    n, at, cause: ints(d.cause), host: ints(d.host), boot: ints(d.boot), lane: ints(d.lane), kind: Uint8Array.from(d.kind),
    peer: ints(d.peer), message: ints(d.message), text: ints(d.text), action: ints(d.action), weight: Uint8Array.from(d.weight),
  };
}
