// Voices: previews that play in place, a recording checked before it is sent, and recorded here.
const AGAIN = { tries: 30, pause: 1500 }; // a worker makes a preview that is not there yet
const sound = new Audio();

async function preview(link) {
  const told = link.closest(".row").querySelector("output");
  for (let tries = 0; tries < AGAIN.tries; tries++) {
    const response = await fetch(link.href);
    if (response.status === 200) {
      told.textContent = "";
      sound.src = URL.createObjectURL(await response.blob());
      await sound.play();
      return;
    }
    if (response.status === 503) {
      told.textContent = await response.text();
      return;
    }
    if (response.status !== 202) break;
    told.textContent = "Being made …";
    await new Promise((resolve) => setTimeout(resolve, AGAIN.pause));
  }
  told.textContent = "It cannot be heard now.";
}

for (const link of document.querySelectorAll("[data-preview]")) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    preview(link).catch((error) => { link.closest(".row").querySelector("output").textContent = error.message; });
  });
}

// What the checks find, in the words of the page.
function report(found) {
  const used = `${(found.start_ms / 1000).toFixed(1)} to ${(found.end_ms / 1000).toFixed(1)} s`;
  const facts = [
    `Good: ${found.speech_seconds.toFixed(1)} s of speech, ${Math.round(found.noise_db)} dB above the noise.`,
    `Of its ${found.seconds.toFixed(1)} s, ${used} will be used.`,
  ];
  return [...facts, ...found.notes].join(" ");
}

async function check(form) {
  const told = form.querySelector("[data-report]");
  const body = new FormData();
  body.append("recording", form.elements.recording.files[0]);
  body.append("text", form.elements.text.value);
  told.className = "";
  told.textContent = "Listening …";
  const headers = { "X-CSRFToken": form.elements.csrfmiddlewaretoken.value };
  const response = await fetch(form.dataset.check, { method: "POST", headers, body });
  const answer = await response.json().catch(() => null);
  told.className = response.ok ? "" : "problem";
  told.textContent = response.ok ? report(answer) : (answer?.error?.message ?? `The server answered ${response.status}.`);
}

function chosen(form) {
  const [file] = form.elements.recording.files;
  if (!file) return;
  const heard = form.querySelector("[data-heard]");
  heard.src = URL.createObjectURL(file);
  heard.hidden = false;
  check(form).catch((error) => { form.querySelector("[data-report]").textContent = error.message; });
}

async function record(form, button) {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: { autoGainControl: false, noiseSuppression: false, echoCancellation: false } });
  const recorder = new MediaRecorder(stream);
  const parts = [];
  recorder.addEventListener("dataavailable", (event) => parts.push(event.data));
  recorder.addEventListener("stop", () => {
    for (const track of stream.getTracks()) track.stop();
    const files = new DataTransfer();
    files.items.add(new File(parts, "recording", { type: recorder.mimeType }));
    form.elements.recording.files = files.files;
    button.textContent = "Record";
    chosen(form);
  });
  button.textContent = "Stop";
  button.addEventListener("click", () => recorder.stop(), { once: true });
  recorder.start();
}

for (const form of document.querySelectorAll("form[data-check]")) {
  form.elements.recording.addEventListener("change", () => chosen(form));
  const button = form.querySelector("[data-record]");
  if (!navigator.mediaDevices || !window.MediaRecorder) continue; // only over https
  button.hidden = false;
  button.addEventListener("click", () => {
    if (button.textContent === "Stop") return;
    record(form, button).catch((error) => { form.querySelector("[data-report]").textContent = error.message; });
  });
}

// A test take is heard where it was asked for.
async function take(form) {
  const told = form.querySelector("output");
  const heard = form.querySelector("audio");
  const button = form.querySelector("[type=submit]");
  button.disabled = true;
  told.className = "";
  told.textContent = "Being made …";
  const response = await fetch(form.action, { method: "POST", body: new FormData(form) });
  button.disabled = false;
  if (response.ok) {
    told.textContent = "";
    heard.src = URL.createObjectURL(await response.blob());
    heard.hidden = false;
    await heard.play();
    return;
  }
  const answer = await response.json().catch(() => null);
  told.className = "problem";
  told.textContent = answer?.error?.message ?? `The server answered ${response.status}.`;
}

for (const form of document.querySelectorAll("form[data-take]")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    take(form).catch((error) => { form.querySelector("output").textContent = error.message; });
  });
}
