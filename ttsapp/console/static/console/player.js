// Speech that is played while it arrives. Pieces are scheduled one behind the other on the audio
// clock, which has their rate, so that they join without a gap. Works without https, where worklets
// do not.
const LEAD = 0.3; // seconds in hand before the first sound, and again after an underrun
const START = 0.03; // seconds from scheduling to sound, for the audio thread

export class Player {
  constructor(rate) {
    this.rate = rate;
    this.audio = new AudioContext({ sampleRate: rate });
    this.waiting = [];
    this.inHand = 0; // seconds not yet scheduled
    this.next = 0; // when what is scheduled runs out, on the audio clock
    this.isPlaying = false;
    this.isOver = false;
    this.underruns = 0;
    this.scheduled = 0;
  }

  add(samples) {
    if (samples.length === 0 || this.audio.state === "closed") return;
    if (this.isPlaying && this.next < this.audio.currentTime) {
      this.underruns += 1;
      this.isPlaying = false;
    }
    this.waiting.push(samples);
    this.inHand += samples.length / this.rate;
    if (this.isPlaying || this.inHand >= LEAD) this.flush();
  }

  flush() {
    if (this.audio.state === "closed" || this.waiting.length === 0) return;
    if (!this.isPlaying) this.next = Math.max(this.next, this.audio.currentTime + START);
    this.isPlaying = true;
    for (const samples of this.waiting.splice(0)) this.schedule(samples);
    this.inHand = 0;
  }

  schedule(samples) {
    const buffer = this.audio.createBuffer(1, samples.length, this.rate);
    buffer.copyToChannel(samples, 0);
    const source = this.audio.createBufferSource();
    source.buffer = buffer;
    source.connect(this.audio.destination);
    source.start(this.next);
    this.next += buffer.duration;
    this.scheduled += buffer.duration;
  }

  // Seconds of the take that have been heard.
  get position() {
    return Math.max(0, this.scheduled - Math.max(0, this.next - this.audio.currentTime));
  }

  // The samples of a whole file; raises where the browser does not know its format.
  async decoded(bytes) {
    return (await this.audio.decodeAudioData(bytes.buffer)).getChannelData(0);
  }

  // No more follows: what is left is played, then the sound device is given back.
  async end() {
    this.flush();
    while (this.audio.state !== "closed" && this.next > this.audio.currentTime) {
      await new Promise((done) => setTimeout(done, 50));
    }
    await this.close();
  }

  async close() {
    if (this.audio.state !== "closed") await this.audio.close();
  }
}

// A file that any player opens: 44 bytes of header, then the samples as they came.
export function wav(pieces, rate) {
  const bytes = pieces.reduce((sum, piece) => sum + 2 * piece.length, 0);
  const view = new DataView(new ArrayBuffer(44 + bytes));
  const text = (at, word) => [...word].forEach((c, i) => view.setUint8(at + i, c.charCodeAt(0)));
  text(0, "RIFF");
  view.setUint32(4, 36 + bytes, true);
  text(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, rate, true);
  view.setUint32(28, 2 * rate, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  text(36, "data");
  view.setUint32(40, bytes, true);
  let at = 44;
  for (const piece of pieces) {
    for (const sample of piece) {
      view.setInt16(at, Math.max(-32768, Math.min(32767, Math.round(sample * 32768))), true);
      at += 2;
    }
  }
  return new Blob([view], { type: "audio/wav" });
}
