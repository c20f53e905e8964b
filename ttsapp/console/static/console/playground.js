// The playground: one take at a time, told as it comes, kept as a row of the table below.
import { Decoder, Player, SAMPLE_RATE, wav } from "./player.js";
import { Wave } from "./wave.js";

const form = document.getElementById("player");
const fields = form.elements;
const stop = document.getElementById("stop");
const result = document.getElementById("result");
const wave = new Wave(document.getElementById("wave"));
const KEPT = ["text", "voice", "seed"];
const SETTLED = { tries: 25, pause: 200 }; // the ledger follows within a second or so
let current = null;

class Take {
  constructor(pieces = []) {
    this.player = new Player();
    this.abort = new AbortController();
    this.pieces = pieces;
    this.firstAudio = null;
  }

  get seconds() {
    return this.pieces.reduce((sum, piece) => sum + piece.length, 0) / SAMPLE_RATE;
  }

  async close() {
    this.abort.abort();
    await this.player.close();
  }
}

function wanted() {
  const seed = fields.seed.value.trim();
  return { text: fields.text.value, voice: fields.voice.value, ...(seed && { seed: Number(seed) }) };
}

async function ask(take) {
  const response = await fetch(form.dataset.speak, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-CSRFToken": fields.csrfmiddlewaretoken.value },
    body: JSON.stringify(wanted()),
    signal: take.abort.signal,
  });
  if (!response.ok) {
    const problem = await response.json().catch(() => null);
    throw new Error(problem?.error?.message ?? `The server answered ${response.status}.`);
  }
  return response;
}

async function speak(take) {
  const asked = performance.now();
  const response = await ask(take);
  take.id = response.headers.get("x-request-id");
  take.seed = response.headers.get("x-parlance-seed");
  const decoder = new Decoder();
  for (const reader = response.body.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) break;
    take.firstAudio ??= Math.round(performance.now() - asked);
    const samples = decoder.samples(value);
    take.pieces.push(samples);
    take.player.add(samples);
    wave.add(samples);
    tell(`First audio after ${take.firstAudio} ms · ${take.seconds.toFixed(1)} s of speech · ${count(take.player.underruns, "underrun")}`);
  }
}

async function settled(take) {
  for (let i = 0; i < SETTLED.tries; i += 1) {
    const response = await fetch(form.dataset.takes + take.id);
    const found = response.ok ? await response.json() : null;
    if (found?.state === "ended") return found;
    await new Promise((done) => setTimeout(done, SETTLED.pause));
  }
  return null;
}

function follow(take) {
  if (current !== take) return;
  wave.draw(take.player.position);
  if (take.player.audio.state !== "closed") requestAnimationFrame(() => follow(take));
}

async function begin(take) {
  await current?.close();
  current = take;
  stop.disabled = false;
  wave.clear();
  follow(take);
}

function finish(take) {
  if (current !== take) return;
  stop.disabled = true;
  wave.draw(take.seconds);
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const take = new Take();
  const voice = fields.voice.selectedOptions[0].dataset.name;
  await begin(take);
  tell("Asking the engine…");
  try {
    await speak(take);
    row(take, voice);
    await take.player.end();
  } catch (error) {
    if (error.name !== "AbortError") tell(error.message);
    else if (take.pieces.length > 0) row(take, voice);
    await take.close();
  }
  finish(take);
});

stop.addEventListener("click", async () => {
  await current?.close();
  stop.disabled = true;
});

async function again(pieces) {
  const take = new Take(pieces);
  await begin(take);
  for (const piece of pieces) {
    wave.add(piece);
    take.player.add(piece);
  }
  await take.player.end();
  finish(take);
}

function row(take, voice) {
  document.getElementById("none")?.remove();
  const line = document.getElementById("list").insertRow(0);
  const cells = [voice, take.firstAudio, take.seconds.toFixed(1), take.player.underruns, "…", take.seed, "…"];
  const made = cells.map((text, place) => cell(line, text, place > 0 && place < 6));
  const actions = line.insertCell();
  actions.append(button("Play", () => again(take.pieces)), " ", button("WAV", () => save(take)));
  settled(take).then((found) => {
    made[3].textContent = take.player.underruns;
    made[4].textContent = found?.billed_characters ?? "not settled yet";
    made[6].replaceChildren(link(form.dataset.requests + take.id, found?.finish_reason ?? "open"));
  });
}

function cell(line, text, isNumber) {
  const made = line.insertCell();
  made.textContent = text;
  if (isNumber) made.className = "number";
  return made;
}

function button(text, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.addEventListener("click", act);
  return made;
}

function link(href, text) {
  const made = document.createElement("a");
  made.href = href;
  made.textContent = text;
  return made;
}

function save(take) {
  const made = link(URL.createObjectURL(wav(take.pieces)), "");
  made.download = `${take.id}.wav`;
  made.click();
  setTimeout(() => URL.revokeObjectURL(made.href), 1000);
}

function tell(text) {
  result.textContent = text;
}

function count(number, word) {
  return `${number} ${word}${number === 1 ? "" : "s"}`;
}

// What is typed stays for this visit, whatever page is looked at in between.
const remembered = `playground:${form.dataset.tenant}`;

function recall() {
  const kept = JSON.parse(sessionStorage.getItem(remembered) ?? "{}");
  for (const name of KEPT) if (kept[name]) fields[name].value = kept[name];
  if (fields.voice.selectedIndex < 0) fields.voice.selectedIndex = 0;
}

function changed() {
  const now = Object.fromEntries(KEPT.map((name) => [name, fields[name].value]));
  sessionStorage.setItem(remembered, JSON.stringify(now));
  document.getElementById("count").textContent = `${[...now.text].length} of ${fields.text.maxLength} characters`;
  document.getElementById("command").textContent = curl(wanted());
}

// A single quote ends the shell's quoting: it is written as '\''.
function curl({ text, voice, seed }) {
  const body = JSON.stringify({ model: "tts-1", voice, input: text, response_format: "wav", seed });
  return [
    `curl -sS --fail "${form.dataset.base}/v1/audio/speech" \\`,
    `  -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" \\`,
    `  -d '${body.replaceAll("'", "'\\''")}' -o take.wav`,
  ].join("\n");
}

form.addEventListener("input", changed);
recall();
changed();
