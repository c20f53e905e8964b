// Plays a test sentence while it is being spoken: raw 24 kHz 16-bit samples, scheduled one behind
// the other on the audio clock, so that chunks join without a gap.
const SAMPLE_RATE = 24000;
const HEAD_START = 0.05; // seconds between the first chunk's arrival and its sound

const form = document.getElementById("player");
const stop = document.getElementById("stop");
const result = document.getElementById("result");
let current = null;

class Take {
  constructor() {
    this.audio = new AudioContext({ sampleRate: SAMPLE_RATE });
    this.abort = new AbortController();
    this.next = 0;
    this.samples = 0;
    this.late = 0;
    this.odd = new Uint8Array(0);
  }

  // Chunks may end in the middle of a sample: the odd byte waits for the next one.
  play(bytes) {
    const joined = new Uint8Array(this.odd.length + bytes.length);
    joined.set(this.odd);
    joined.set(bytes, this.odd.length);
    const count = joined.length >> 1;
    this.odd = joined.slice(count * 2);
    if (count === 0) return;
    const view = new DataView(joined.buffer);
    const buffer = this.audio.createBuffer(1, count, SAMPLE_RATE);
    const channel = buffer.getChannelData(0);
    for (let i = 0; i < count; i += 1) channel[i] = view.getInt16(2 * i, true) / 32768;
    this.schedule(buffer);
    this.samples += count;
  }

  schedule(buffer) {
    const now = this.audio.currentTime;
    if (this.next < now) {
      if (this.samples > 0) this.late += 1;
      this.next = now + HEAD_START;
    }
    const source = this.audio.createBufferSource();
    source.buffer = buffer;
    source.connect(this.audio.destination);
    source.start(this.next);
    this.next += buffer.duration;
  }

  async end() {
    const left = Math.max(0, this.next - this.audio.currentTime);
    await new Promise((done) => setTimeout(done, left * 1000));
    await this.close();
  }

  async close() {
    this.abort.abort();
    if (this.audio.state !== "closed") await this.audio.close();
  }
}

async function request(take) {
  const response = await fetch(form.dataset.speak, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      "X-CSRFToken": form.elements.csrfmiddlewaretoken.value,
    },
    body: JSON.stringify({ text: form.elements.text.value, voice: form.elements.voice.value }),
    signal: take.abort.signal,
  });
  if (!response.ok) {
    const problem = await response.json().catch(() => null);
    throw new Error(problem?.error?.message ?? `The server answered ${response.status}.`);
  }
  return response.body.getReader();
}

async function speak(take) {
  const asked = performance.now();
  const reader = await request(take);
  let first = null;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    first ??= Math.round(performance.now() - asked);
    take.play(value);
    const seconds = (take.samples / SAMPLE_RATE).toFixed(1);
    result.textContent = `First audio after ${first} ms · ${seconds} s of speech · ${take.late} gaps`;
  }
  await take.end();
}

form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  await current?.close();
  const take = new Take();
  current = take;
  stop.disabled = false;
  result.textContent = "Asking the engine…";
  try {
    await speak(take);
  } catch (error) {
    if (error.name !== "AbortError") result.textContent = error.message;
    await take.close();
  }
  if (current === take) stop.disabled = true;
});

stop?.addEventListener("click", async () => {
  await current?.close();
  stop.disabled = true;
});
