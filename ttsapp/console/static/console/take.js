// One take: asked for, heard while it is made, kept so that it can be heard again.
import { bytes, events } from "./events.js";
import { Decoder, Player, SAMPLE_RATE, wav } from "./player.js";

const SETTLED = { tries: 25, pause: 200 }; // the ledger follows within a second or so

export class Take {
  constructor(urls, body, voice) {
    Object.assign(this, { urls, body, voice });
    this.pieces = [];
    this.words = [];
    this.firstAudio = null;
    this.underruns = 0;
  }

  get seconds() {
    return this.pieces.reduce((sum, piece) => sum + piece.length, 0) / SAMPLE_RATE;
  }

  // Tells `heard.samples` and `heard.words` of what comes, until all of it has been played.
  async speak(token, heard) {
    const asked = performance.now();
    this.player = this.opened(); // within the click, as browsers want it
    const response = await this.ask(token);
    this.id = response.headers.get("x-request-id");
    this.seed = response.headers.get("x-parlance-seed");
    const decoder = new Decoder();
    for await (const event of events(response)) {
      if (event.type === "error") throw new Error(event.error.message);
      if (event.type === "speech.audio.words") this.note(event.words, heard);
      if (event.type !== "speech.audio.delta") continue;
      this.firstAudio ??= Math.round(performance.now() - asked);
      this.play(decoder.samples(bytes(event.audio)), heard, true);
    }
    await this.end();
  }

  async ask(token) {
    const response = await fetch(this.urls.speak, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-CSRFToken": token },
      body: JSON.stringify(this.body),
      signal: this.abort.signal,
    });
    if (response.ok) return response;
    const problem = await response.json().catch(() => null);
    throw new Error(problem?.error?.message ?? `The server answered ${response.status}.`);
  }

  note(words, heard) {
    this.words.push(...words);
    heard.words(words);
  }

  play(samples, heard, isNew) {
    if (isNew) this.pieces.push(samples);
    this.player.add(samples);
    if (isNew) this.underruns = this.player.underruns;
    heard.samples(samples, isNew);
  }

  async again(heard) {
    this.player = this.opened();
    heard.words(this.words);
    for (const piece of this.pieces) this.play(piece, heard, false);
    await this.end();
  }

  opened() {
    this.abort = new AbortController();
    return new Player();
  }

  async end() {
    await this.player.end();
    this.abort.signal.throwIfAborted();
  }

  async close() {
    this.abort?.abort();
    await this.player?.close();
  }

  // How the ledger has it; null if it does not yet.
  async settled() {
    for (let i = 0; i < SETTLED.tries; i += 1) {
      const response = await fetch(this.urls.takes + this.id);
      const found = response.ok ? await response.json() : null;
      if (found?.state === "ended") return found;
      await new Promise((done) => setTimeout(done, SETTLED.pause));
    }
    return null;
  }

  save() {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(wav(this.pieces));
    link.download = `${this.id}.wav`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }
}
