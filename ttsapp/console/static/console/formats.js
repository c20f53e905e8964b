// What a take may be asked for as: how its bytes become samples, and what its file is called.
// Formats that a file begins with a header are sent without one: their samples are the same.
const BARE = { wav: "pcm", wav_f32: "pcm_f32", wav_mulaw: "mulaw", wav_alaw: "alaw" };
const READERS = {
  pcm: { width: 2, read: (view, at) => view.getInt16(at, true) / 32768 },
  pcm_f32: { width: 4, read: (view, at) => view.getFloat32(at, true) },
  mulaw: { width: 1, read: (view, at) => mulaw(view.getUint8(at)) },
  alaw: { width: 1, read: (view, at) => alaw(view.getUint8(at)) },
};

export const sent = (format) => BARE[format] ?? format;

// Whether it can be heard while it comes. All others are decoded by the browser, whole.
export const isRaw = (format) => sent(format) in READERS;

// Of the file that a program gets.
export const extension = (format) => (format.startsWith("wav") ? "wav" : format.split("_")[0]);

// G.711: a sign, three bits of exponent and four of mantissa, in units of 14 and of 13 bits.
export function mulaw(code) {
  const [sign, exponent, mantissa] = parts(~code);
  return ((sign ? -1 : 1) * ((2 * mantissa + 33) * 2 ** exponent - 33)) / 8192;
}

export function alaw(code) {
  const [sign, exponent, mantissa] = parts(code ^ 0x55);
  const size = exponent ? (2 * mantissa + 33) * 2 ** (exponent - 1) : 2 * mantissa + 1;
  return ((sign ? 1 : -1) * size) / 4096;
}

const parts = (code) => [code & 0x80, (code >> 4) & 7, code & 15];

// Bytes may end in the middle of a sample: the odd ones wait for the next piece.
export class Decoder {
  constructor(format) {
    Object.assign(this, READERS[sent(format)], { odd: new Uint8Array(0) });
  }

  samples(bytes) {
    const joined = new Uint8Array(this.odd.length + bytes.length);
    joined.set(this.odd);
    joined.set(bytes, this.odd.length);
    const count = Math.floor(joined.length / this.width);
    this.odd = joined.slice(count * this.width);
    const view = new DataView(joined.buffer);
    return Float32Array.from({ length: count }, (_, place) => this.read(view, place * this.width));
  }
}
