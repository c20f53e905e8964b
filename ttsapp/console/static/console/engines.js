// The engines page: a message a second over a socket, and while there is none a question a second.
const place = document.getElementById("live");
const how = document.getElementById("how");
const traces = new Map();
const [SECONDS, STEP, RETRY_MS] = [60, 5, 10_000];
let socketed = false;

const find = (found, path) => path.split(".").reduce((at, name) => at?.[name], found);

// The page has a row for each module, wait, part of memory, cache and pinned voice that there was when it was made, and a
// button that drains or undrains.
const LISTS = ["modules", "between", "parts", "caches", "pinned"];
const shape = (found) => JSON.stringify(found.engines.map((e) => [e.is_draining, ...LISTS.map((list) => e[list].length)]));
const rows = () => [...document.querySelectorAll("h2[id^=engine-]")].map((head, at) => [
  "draining" in head.dataset,
  ...LISTS.map((list) => document.querySelectorAll(`[data-live^="engines.${at}.${list}."][data-live$=".name"]`).length),
]);
// What somebody is writing is not taken from them.
const isInUse = () => document.querySelector(".sure[open], main [role=alert]") !== null;

// The minutes that the worker has noted, and those since, each once it is over; then the moment.
function trace(line, value) {
  const kept = traces.get(line) ?? { minutes: JSON.parse(line.dataset.past), seconds: [] };
  traces.set(line, kept);
  kept.seconds.push(Math.min(100, value));
  if (kept.seconds.length === SECONDS) {
    kept.minutes = [...kept.minutes.slice(1), mean(kept.seconds)];
    kept.seconds = [];
  }
  line.setAttribute("d", path([...kept.minutes, Math.min(100, value)]));
  line.closest("figure").querySelector("[data-said]").textContent = said(kept.minutes, value);
}

// Gaps where nothing is known, as the page draws it.
function path(values) {
  return values.map((value, at) => {
    if (value === null) return "";
    return values[at - 1] == null ? `M${at},${100 - value}h.01` : `L${at},${100 - value}`;
  }).join("");
}

function said(minutes, now) {
  const missing = minutes.filter((value) => value === null).length;
  if (missing === minutes.length) return "nothing noted yet";
  if (missing) return `${missing} min not noted`;
  return now || minutes.some((value) => value > 0) ? "" : "idle all this time";
}

function mean(values) {
  const known = values.filter((value) => value !== null);
  return known.length ? known.reduce((sum, each) => sum + each, 0) / known.length : null;
}

// What the lines of an engine show, in means of some minutes.
function tabulate(body) {
  const lines = ["streams_share", "busy_share"].map((name) => `[data-trace="engines.${body.dataset.history}.${name}"]`);
  const kept = lines.map((line) => traces.get(document.querySelector(line)).minutes);
  [...body.rows].forEach((row, place) => {
    const end = kept[0].length - place * STEP;
    kept.forEach((minutes, at) => {
      const value = mean(minutes.slice(Math.max(0, end - STEP), end));
      row.cells[at + 1].textContent = value === null ? "–" : value.toFixed(1);
    });
  });
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
  for (const piece of document.querySelectorAll("[data-piece]")) {
    const { start, share } = find(found, piece.dataset.piece);
    piece.setAttribute("x", start);
    piece.setAttribute("width", share);
  }
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

// A trace is told of while it is captured: the answer is its file, or a page that says why there is none.
async function capture(form) {
  const answer = await fetch(form.action, { method: "POST", body: new FormData(form) });
  if (answer.headers.get("content-type") === "application/gzip") {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await answer.blob());
    link.download = answer.headers.get("content-disposition").match(/filename="(.*)"/)[1];
    link.click();
    URL.revokeObjectURL(link.href);
    return `Captured: ${link.download}.`;
  }
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  return page.querySelector("main [role=alert]")?.textContent ?? `The server answered ${answer.status}.`;
}

async function follow(form) {
  const [button, status, bar] = ["button", "[role=status]", "progress"].map((part) => form.querySelector(part));
  const began = performance.now();
  const count = setInterval(() => {
    bar.value = Math.min(bar.max, (performance.now() - began) / 1000);
    status.textContent = bar.value < bar.max ? `Capturing: ${Math.floor(bar.value)} of ${bar.max} s.` : "Captured; the file is being written.";
  }, 200);
  button.disabled = true;
  bar.hidden = false;
  status.textContent = await capture(form).catch(() => "No answer: is the product still there?");
  clearInterval(count);
  bar.hidden = true;
  button.disabled = false;
}

for (const form of document.querySelectorAll("form[action$='/trace']")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    follow(form);
  });
}

listen();
setInterval(ask, 1000);
