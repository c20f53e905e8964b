// What a script found out, as JSON on its last line.
import { createHash } from "node:crypto";

export const { BASE, TLS, KEY } = process.env;

export function heard(bytes) {
  const data = Buffer.from(bytes);
  return { bytes: data.length, sha256: createHash("sha256").update(data).digest("hex") };
}

export async function joined(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

export async function refusal(call) {
  try {
    await call();
  } catch (error) {
    return error;
  }
  throw new Error("it was not refused");
}

export function report(found) {
  console.log(JSON.stringify(found));
}
