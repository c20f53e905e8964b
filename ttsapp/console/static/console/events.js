// The events of a streamed answer, one after the other: `fetch` reads what EventSource cannot post.
export async function* events(response) {
  const decoder = new TextDecoder();
  let text = "";
  for (const reader = response.body.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += decoder.decode(value, { stream: true });
    const whole = text.split("\n\n");
    text = whole.pop();
    for (const event of whole) yield JSON.parse(event.slice("data: ".length));
  }
}

export function bytes(base64) {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}
