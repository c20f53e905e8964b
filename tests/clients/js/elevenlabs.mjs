// ElevenLabs' JavaScript client, unmodified.
import { ElevenLabsClient } from "@elevenlabs/elevenlabs-js";
import { BASE, KEY, heard, joined, refusal, report } from "./report.mjs";

const RACHEL = "21m00Tcm4TlvDq8ikWAM";
const client = new ElevenLabsClient({ apiKey: KEY, baseUrl: BASE });
const wanted = { text: "Hello there.", outputFormat: "pcm_24000" };
const speech = client.textToSpeech;

const whole = await joined(await speech.convert(RACHEL, wanted));
const streamed = await joined(await speech.stream(RACHEL, wanted));
const timed = await speech.convertWithTimestamps(RACHEL, wanted);
const lines = [];
for await (const line of await speech.streamWithTimestamps(RACHEL, wanted)) {
  lines.push(Buffer.from(line.audioBase64, "base64"));
}
const unknown = await refusal(async () => joined(await speech.convert("nobody", { text: "Hello." })));

report({
  whole: heard(whole),
  streamed: heard(streamed),
  timed: heard(Buffer.from(timed.audioBase64, "base64")),
  lines: heard(Buffer.concat(lines)),
  voices: (await client.voices.search()).voices.map((voice) => voice.name),
  models: (await client.models.list()).map((model) => model.modelId),
  user: (await client.user.get()).userId,
  token: (await client.tokens.singleUse.create("tts_websocket")).token.length > 20,
  unknown: [unknown.statusCode, unknown.body.detail.status],
});
