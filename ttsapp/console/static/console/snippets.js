// A take as a call that anybody with a key can make: from a shell, with OpenAI's clients.
export const SNIPPETS = { curl, python, javascript };

// What the playground itself sends goes by events; a file is what a program wants.
function plain(body) {
  const { stream_format, word_timestamps, ...rest } = body;
  return { ...rest, response_format: "wav" };
}

// A single quote ends the shell's quoting: it is written as '\''.
function curl(base, body) {
  return [
    `curl -sS --fail "${base}/v1/audio/speech" \\`,
    `  -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" \\`,
    `  -d '${JSON.stringify(plain(body)).replaceAll("'", "'\\''")}' -o take.wav`,
  ].join("\n");
}

// OpenAI's clients know no seed and no cleaning of texts: those go into the body beside the rest.
function split(body) {
  const { seed, apply_text_normalization, ...known } = plain(body);
  const ours = Object.entries({ seed, apply_text_normalization }).filter(([, value]) => value !== undefined);
  return { known, ours: ours.length > 0 ? Object.fromEntries(ours) : null };
}

// JSON's strings and numbers are Python's as well.
function python(base, body) {
  const { known, ours } = split(body);
  const lines = Object.entries(known).map(([name, value]) => `    ${name}=${JSON.stringify(value)},`);
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
    '    speech.stream_to_file("take.wav")',
  ].join("\n");
}

function javascript(base, body) {
  const lines = Object.entries(plain(body)).map(([name, value]) => `  ${name}: ${JSON.stringify(value)},`);
  return [
    'import { writeFile } from "node:fs/promises";',
    'import OpenAI from "openai";',
    "",
    `const client = new OpenAI({ baseURL: "${base}/v1", apiKey: process.env.KEY });`,
    "const speech = await client.audio.speech.create({",
    ...lines,
    "});",
    'await writeFile("take.wav", Buffer.from(await speech.arrayBuffer()));',
  ].join("\n");
}
