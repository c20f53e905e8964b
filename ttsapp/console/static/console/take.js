// One take: asked for, heard while it is made, kept so that it can be heard again.
import { bytes, events } from "./events.js";
import { Decoder, extension, isRaw, sent } from "./formats.js";
import { Player, wav } from "./player.js";

export class Take {
  // `asked`: as a program would ask for it. `rate`: of its samples. `hasWords`: their times are told.
  constructor(urls, asked, { voice, rate, hasWords }) {
    Object.assign(this, { urls, asked, voice, rate, hasWords });
    this.pieces = [];
    this.file = []; // bytes of what is heard only once it is whole
    this.words = [];
    this.firstAudio = null;
    this.underruns = 0;
  }

  get seconds() {
    return this.pieces.reduce((sum, piece) => sum + piece.length, 0) / this.rate;
  }

  get extension() {
    return this.isRaw ? "wav" : extension(this.asked.response_format);
  }

  get isRaw() {
    return isRaw(this.asked.response_format);
  }

  // By events, so that words come with the sound they are of.
  get body() {
    const format = { response_format: sent(this.asked.response_format), stream_format: "sse" };
    return { ...this.asked, ...format, ...(this.hasWords && { word_timestamps: true }) };
  }

  // Tells `heard.samples` and `heard.words` of what comes, until all of it has been played.
  async speak(token, heard) {
    const asked = performance.now();
    this.player = this.opened(); // within the click, as browsers want it
    const response = await this.ask(token);
    this.id = response.headers.get("x-request-id");
    this.seed = response.headers.get("x-parlance-seed");
    const decoder = this.isRaw ? new Decoder(this.asked.response_format) : null;
    for await (const event of events(response)) {
      if (event.type === "error") throw new Error(event.error.message);
      if (event.type === "speech.audio.words") this.note(event.words, heard);
      if (event.type !== "speech.audio.delta") continue;
      this.firstAudio ??= Math.round(performance.now() - asked);
      if (decoder) this.play(decoder.samples(bytes(event.audio)), heard, true);
      else this.file.push(bytes(event.audio));
    }
    if (!decoder) this.play(await this.decoded(), heard, true);
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

  async decoded() {
    const format = this.asked.response_format;
    const whole = new Uint8Array(await new Blob(this.file).arrayBuffer());
    return this.player.decoded(whole).catch((error) => {
      this.abort.signal.throwIfAborted();
      throw new Error(`This browser cannot play ${format}: ${error.message}`);
    });
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
    return new Player(this.rate);
  }

  async end() {
    await this.player.end();
    this.abort.signal.throwIfAborted();
  }

  async close() {
    this.abort?.abort();
    await this.player?.close();
  }

  // How the ledger has it; null if it still does not when the server has waited for it.
  async settled() {
    const response = await fetch(this.urls.takes + this.id);
    const found = response.ok ? await response.json() : null;
    return found?.state === "ended" ? found : null;
  }

  save() {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(this.isRaw ? wav(this.pieces, this.rate) : new Blob(this.file));
    link.download = `${this.id}.${this.extension}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }
}
