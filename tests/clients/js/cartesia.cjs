// Cartesia's JavaScript client, unmodified. Its socket is opened with TLS alone, and finds its peer
// `ws` only where modules are required: as an ES module this version cannot open one in Node.
const { Cartesia } = require("@cartesia/cartesia-js");

const KATIE = "f786b574-daa5-4673-aa0c-cbe3e8534c02";
const RAW = { container: "raw", encoding: "pcm_s16le", sample_rate: 24000 };
const VOICE = { mode: "id", id: KATIE };

async function main() {
  const { KEY, TLS, heard, joined, refusal, report } = await import("./report.mjs");
  const client = new Cartesia({ apiKey: KEY, baseURL: TLS, maxRetries: 0 });
  const wanted = { model_id: "sonic-3", voice: VOICE, output_format: RAW };

  const bytes = await joined((await client.tts.generate({ ...wanted, transcript: "Hello there." })).body);
  const socket = await client.tts.websocket();
  const context = socket.context({ ...wanted, timeout: 10_000 });
  await context.push({ transcript: "Hello " });
  await context.push({ transcript: "there." });
  await context.no_more_inputs();
  const chunks = [], kinds = new Set();
  for await (const event of context.receive()) {
    kinds.add(event.type);
    if (event.type === "chunk") chunks.push(event.audio ?? Buffer.from(event.data, "base64"));
  }
  socket.close();
  const voices = [];
  for await (const voice of client.voices.list({ limit: 1 })) voices.push(voice.id);
  const unknown = await refusal(() => client.voices.get("nobody"));

  report({
    bytes: heard(bytes),
    context: heard(Buffer.concat(chunks.map((chunk) => Buffer.from(chunk)))),
    kinds: [...kinds],
    voices,
    unknown: unknown.status,
  });
}

main();
