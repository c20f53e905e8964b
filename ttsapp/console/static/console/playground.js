// The playground: one text, two takes of it side by side, and a table of all that were made.
import { label } from "./page.js";
import { Side, cost } from "./side.js";
import { SNIPPETS } from "./snippets.js";

const root = document.getElementById("playground");
const text = document.getElementById("text");
const both = document.getElementById("both");
const command = document.getElementById("command");
const shown = document.getElementById("shown");
const language = document.getElementById("language");
const KEPT = ["voice", "instructions", "language", "format", "rate", "seed", "speed"];
const remembered = `playground:${root.dataset.tenant}`;

const page = {
  urls: { speak: root.dataset.speak, takes: root.dataset.takes, requests: root.dataset.requests },
  text: () => text.value,
  quiet: () => Promise.all(sides.map((side) => side.stop())),
  keep: row,
};
const sides = [...document.querySelectorAll("form[data-side]")].map((form) => new Side(form, page));

// One after the other: two at once cannot be told apart.
both.addEventListener("click", async () => {
  both.disabled = true;
  for (const side of sides) if (!side.form.reportValidity() || !(await side.speak())) break;
  both.disabled = false;
});

text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) sides[0].form.requestSubmit();
});

// A row of the table; returns what completes it.
function row(side, take) {
  document.getElementById("none")?.remove();
  const line = document.getElementById("list").insertRow(0);
  const cells = [side.name, settings(take), take.firstAudio, take.seconds.toFixed(1), take.underruns, "…", take.seed, "…"];
  const made = cells.map((value, place) => cell(line, value, place > 1 && place < 7));
  made[1].classList.add("wrap");
  const what = `take ${side.name} by ${take.voice}`;
  const actions = line.insertCell();
  actions.className = "actions";
  actions.append(button("Play", what, () => side.again(take)), " ", button(take.extension.toUpperCase(), what, () => take.save()));
  label(line.closest("table"));
  tell();
  return (found) => {
    made[5].textContent = cost(found);
    made[7].replaceChildren(link(page.urls.requests + take.id, found?.finish_reason ?? "open"));
  };
}

// What tells a take from others.
function settings({ voice, asked }) {
  const { language, response_format: format, sample_rate: rate, speed, instructions } = asked;
  const told = [voice, language, format !== "wav" && format, rate && `${rate} Hz`, speed && `at ${speed}`];
  return [...told, instructions && `“${instructions}”`].filter(Boolean).join(", ");
}

function cell(line, value, isNumber) {
  const made = line.insertCell();
  made.textContent = value;
  if (isNumber) made.className = "number";
  return made;
}

function button(name, what, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = name;
  made.ariaLabel = `${name}: ${what}`;
  made.addEventListener("click", act);
  return made;
}

function link(href, name) {
  const made = document.createElement("a");
  made.href = href;
  made.textContent = name;
  return made;
}

// What is typed stays for this visit, whatever page is looked at in between.
function recall() {
  const kept = JSON.parse(sessionStorage.getItem(remembered) ?? "{}");
  if (kept.text) text.value = kept.text;
  sides.forEach((side, place) => {
    const own = kept.sides?.[place] ?? {};
    for (const name of KEPT) if (own[name]) side.fields[name].value = own[name];
    side.fields.spelled.checked = Boolean(own.spelled);
    // Nothing kept: the second take is by another voice than the first.
    const { voice } = side.fields;
    if (voice.selectedIndex < 0 || !own.voice) voice.selectedIndex = Math.min(place, voice.length - 1);
  });
  asked(sides[0].fields);
}

// By a request's page: its settings, as far as there still is such a voice, and such a format.
function asked(fields) {
  const wanted = new URLSearchParams(location.search);
  for (const name of ["voice", "language", "format", "rate"]) {
    const option = [...fields[name].options].find((each) => each.value === wanted.get(name));
    if (option) option.selected = true;
  }
  for (const name of ["seed", "speed"]) if (wanted.has(name)) fields[name].value = wanted.get(name);
}

function changed() {
  for (const side of sides) side.adjust();
  const now = sides.map(({ fields }) => ({
    ...Object.fromEntries(KEPT.map((name) => [name, fields[name].value])),
    spelled: fields.spelled.checked,
  }));
  sessionStorage.setItem(remembered, JSON.stringify({ text: text.value, sides: now }));
  document.getElementById("count").textContent = `${[...text.value].length} of ${text.maxLength} characters`;
  tell();
}

function tell() {
  const side = sides.find(({ name }) => name === shown.value);
  command.textContent = SNIPPETS[language.value](root.dataset.base, side.told());
}

root.addEventListener("input", changed);
recall();
changed();
// A click that came before this script would have sent the form itself, and no take.
for (const waiting of root.querySelectorAll("[data-waits]")) waiting.disabled = false;
