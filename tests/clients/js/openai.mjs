// OpenAI's JavaScript client, unmodified.
import OpenAI from "openai";
import { BASE, KEY, heard, joined, refusal, report } from "./report.mjs";

const client = new OpenAI({ baseURL: `${BASE}/v1`, apiKey: KEY, maxRetries: 0 });
const wanted = { model: "tts-1", voice: "alloy", input: "Hello there." };

const whole = await client.audio.speech.create({ ...wanted, response_format: "pcm" });
const streamed = await client.audio.speech.create({ ...wanted, response_format: "wav" });
const events = await client.audio.speech.create({
  ...wanted, response_format: "pcm", stream_format: "sse",
});
const told = (await events.text()).split("\n\n").filter(Boolean).map((event) => JSON.parse(event.slice("data: ".length)));
const unknown = await refusal(() => client.audio.speech.create({ ...wanted, voice: "zelda" }));
const wrongKey = await refusal(() => new OpenAI({ baseURL: `${BASE}/v1`, apiKey: "sk-wrong", maxRetries: 0 }).models.list());

report({
  whole: heard(await whole.arrayBuffer()),
  contentType: whole.headers.get("content-type"),
  wav: (await joined(streamed.body)).subarray(0, 4).toString(),
  events: heard(Buffer.concat(told.filter((one) => one.type === "speech.audio.delta").map((one) => Buffer.from(one.audio, "base64")))),
  usage: told.at(-1).usage !== undefined,
  models: (await client.models.list()).data.map((model) => model.id),
  model: (await client.models.retrieve("tts-1")).id,
  unknown: [unknown.status, unknown.code, unknown.param, unknown.requestID.length],
  wrongKey: wrongKey.constructor.name,
});
