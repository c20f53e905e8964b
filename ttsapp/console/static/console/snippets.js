// A take as a call that anybody with a key can make: from a shell, with OpenAI's clients.
import { extension } from "./formats.js";

export const SNIPPETS = { curl, python, javascript };

const file = (body) => `take.${extension(body.response_format)}`;

// A single quote ends the shell's quoting: it is written as '\''.
function curl(base, body) {
  return [
    `curl -sS --fail "${base}/v1/audio/speech" \\`,
    `  -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" \\`,
    `  -d '${JSON.stringify(body).replaceAll("'", "'\\''")}' -o ${file(body)}`,
  ].join("\n");
}

// OpenAI's clients insist on a voice, also where it is described: then any name of theirs will do.
const voiced = ({ model, ...rest }) => ({ model, voice: "alloy", ...rest });

// What they do not know goes into the body beside the rest.
const KNOWN = ["model", "voice", "input", "instructions", "response_format", "speed"];

function split(body) {
  const entries = Object.entries(voiced(body));
  const ours = entries.filter(([name]) => !KNOWN.includes(name));
  const known = entries.filter(([name]) => KNOWN.includes(name));
  return { known, ours: ours.length > 0 ? Object.fromEntries(ours) : null };
}

// JSON's strings and numbers are Python's as well.
function python(base, body) {
  const { known, ours } = split(body);
  const lines = known.map(([name, value]) => `    ${name}=${JSON.stringify(value)},`);
  if (ours) lines.push(`    extra_body=${JSON.stringify(ours)},`);
  return [
    "import os",
    "",
    "from openai import OpenAI",
    "",
    `client = OpenAI(base_url="${base}/v1", api_key=os.environ["KEY"])`,
    "with client.audio.speech.with_streaming_response.create(",
    ...lines,
    ") as speech:",
    `    speech.stream_to_file("${file(body)}")`,
  ].join("\n");
}

function javascript(base, body) {
  const lines = Object.entries(voiced(body)).map(([name, value]) => `  ${name}: ${JSON.stringify(value)},`);
  return [
    'import { writeFile } from "node:fs/promises";',
    'import OpenAI from "openai";',
    "",
    `const client = new OpenAI({ baseURL: "${base}/v1", apiKey: process.env.KEY });`,
    "const speech = await client.audio.speech.create({",
    ...lines,
    "});",
    `await writeFile("${file(body)}", Buffer.from(await speech.arrayBuffer()));`,
  ].join("\n");
}
