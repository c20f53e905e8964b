// The engines page: a message a second over a socket, and while there is none a question a second.
const place = document.getElementById("live");
const how = document.getElementById("how");
const traces = new Map();
const [SECONDS, STEP, RETRY_MS] = [120, 10, 10_000];
let socketed = false;

const find = (found, path) => path.split(".").reduce((at, name) => at?.[name], found);

// The page has a row for each module, cache and pinned voice that there was when it was made, and a
// button that drains or undrains.
const LISTS = ["modules", "caches", "pinned"];
const shape = (found) => JSON.stringify(found.engines.map((e) => [e.is_draining, ...LISTS.map((list) => e[list].length)]));
const rows = () => [...document.querySelectorAll("h2[id^=engine-]")].map((head, at) => [
  "draining" in head.dataset,
  ...LISTS.map((list) => document.querySelectorAll(`[data-live^="engines.${at}.${list}."][data-live$=".name"]`).length),
]);
// What somebody is writing is not taken from them.
const isInUse = () => document.querySelector(".sure[open], main [role=alert]") !== null;

function trace(line, value) {
  const values = traces.get(line) ?? [];
  values.push(Math.min(100, value));
  if (values.length > SECONDS) values.shift();
  traces.set(line, values);
  const idle = line.closest("figure").querySelector("[data-idle]");
  idle.textContent = "Idle all this time.";
  idle.hidden = values.some((each) => each > 0);
  const start = SECONDS - values.length;
  line.setAttribute("points", values.map((each, at) => `${start + at},${100 - each}`).join(" "));
}

// What the lines of an engine show, in ten-second means.
function tabulate(body) {
  const lines = ["streams_share", "busy_share"].map((name) => `[data-trace="engines.${body.dataset.history}.${name}"]`);
  const kept = lines.map((line) => traces.get(document.querySelector(line)) ?? []);
  const rows = [];
  for (let ago = 0; ago < kept[0].length; ago += STEP) {
    const row = document.createElement("tr");
    const head = document.createElement("th");
    head.scope = "row";
    head.textContent = ago ? `${ago} s ago` : "now";
    row.append(head, ...kept.map((values) => mean(values.slice(Math.max(0, values.length - ago - STEP), values.length - ago))));
    rows.push(row);
  }
  body.replaceChildren(...rows);
}

function mean(values) {
  const cell = document.createElement("td");
  cell.className = "number";
  cell.textContent = (values.reduce((sum, each) => sum + each, 0) / values.length).toFixed(1);
  return cell;
}

function show(found) {
  if (shape(found) !== JSON.stringify(rows())) {
    if (!isInUse()) location.reload();
    return;
  }
  for (const cell of document.querySelectorAll("[data-live]")) {
    const text = find(found, cell.dataset.live) ?? "";
    if (cell.textContent !== text) cell.textContent = text;
    if ("state" in cell.dataset) cell.className = `pill ${text}`;
  }
  for (const meter of document.querySelectorAll("[data-meter]")) meter.value = find(found, meter.dataset.meter) ?? 0;
  for (const line of document.querySelectorAll("[data-trace]")) trace(line, find(found, line.dataset.trace) ?? 0);
  for (const body of document.querySelectorAll("[data-history]")) tabulate(body);
}

function say(text, state) {
  how.textContent = text;
  how.className = `pill ${state}`;
}

function listen() {
  const socket = new WebSocket(`${location.origin.replace("http", "ws")}/platform/engines/live`);
  socket.addEventListener("message", (event) => {
    socketed = true;
    say("every second, live", "ready");
    show(JSON.parse(event.data));
  });
  socket.addEventListener("close", (event) => {
    socketed = false;
    if (event.code === 4403) say("ended: sign in again", "away");
    else setTimeout(listen, RETRY_MS);
  });
}

async function ask() {
  if (socketed || document.hidden) return;
  try {
    const answer = await fetch(place.dataset.now, { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(answer.status);
    say("every second, by asking", "ready");
    show(await answer.json());
  } catch {
    say("no answer", "away");
  }
}

listen();
setInterval(ask, 1000);
