// One of the two takes that are compared: its voice and settings, what is heard of it, its figures.
import { Take } from "./take.js";
import { Wave } from "./wave.js";
import { Words } from "./words.js";

export class Side {
  // `page`: text, urls, and what is told of beginnings and ends.
  constructor(form, page) {
    Object.assign(this, { form, page, fields: form.elements, name: form.dataset.side, take: null });
    this.wave = new Wave(this.part("wave"));
    this.words = new Words(this.part("words"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.speak();
    });
    this.part("stop").addEventListener("click", () => this.stop());
    this.part("again").addEventListener("click", () => this.again(this.take));
    this.part("save").addEventListener("click", () => this.take.save());
  }

  part(name) {
    return this.form.querySelector(`[data-part="${name}"]`);
  }

  get option() {
    return this.fields.voice.selectedOptions[0];
  }

  // Fields follow the voice and the format: what those cannot have is not offered.
  adjust() {
    const { task, languages } = this.option?.dataset ?? {};
    const { instructions, language, format, rate } = this.fields;
    const spoken = ["auto", ...(languages ?? "").split(" ")];
    const { rates, rate: usual } = format.selectedOptions[0].dataset;
    offer(language, (name) => spoken.includes(name));
    offer(rate, (hertz) => hertz === "" || hertz !== usual && rates.split(" ").includes(hertz));
    rate.options[0].textContent = `${usual} Hz`;
    instructions.required = Boolean(task);
    this.tell("instructed", task ? "What the voice is like" : "Instructions");
  }

  // What a program asks of the speech API for this take.
  asked() {
    const { model, task } = this.option?.dataset ?? {};
    const { voice, instructions, language, format, rate, seed, speed, spelled } = this.fields;
    return {
      model,
      ...(task ? { task_type: task } : { voice: voice.value }),
      input: this.page.text(),
      ...(instructions.value.trim() && { instructions: instructions.value }),
      ...(language.value !== "auto" && { language: language.value }),
      response_format: format.value,
      ...(rate.value && { sample_rate: Number(rate.value) }),
      ...(seed.value.trim() && { seed: Number(seed.value) }),
      ...(Number(speed.value) !== 1 && { speed: Number(speed.value) }),
      ...(spelled.checked && { apply_text_normalization: "on" }),
    };
  }

  // How it is heard.
  hearing() {
    const { name, words = "" } = this.option?.dataset ?? {};
    const { language, format, rate } = this.fields;
    const timed = words.split(" ").filter(Boolean);
    const hasWords = language.value === "auto" ? timed.length > 0 : timed.includes(language.value);
    return { voice: name, rate: Number(rate.value || format.selectedOptions[0].dataset.rate), hasWords };
  }

  // The same for a program, with the seed of the take that was just made of it.
  told() {
    const asked = this.asked();
    const isOfTake = JSON.stringify(this.take?.asked) === JSON.stringify(asked);
    return isOfTake && this.take.seed ? { ...asked, seed: Number(this.take.seed) } : asked;
  }

  // Whether it was heard to its end.
  async speak() {
    const take = new Take(this.page.urls, this.asked(), this.hearing());
    const token = this.fields.csrfmiddlewaretoken.value;
    const isHeard = await this.hear(take, "Asking the engine…", (heard) => take.speak(token, heard));
    if (take.pieces.length > 0) this.keep(take);
    return isHeard;
  }

  again(take) {
    return this.hear(take, "Playing it again.", (heard) => take.again(heard));
  }

  async hear(take, beginning, play) {
    await this.begin(take);
    this.say(beginning);
    let end = "Played to its end.";
    try {
      await play(this.listener(take));
    } catch (error) {
      end = error.name === "AbortError" ? "Stopped." : error.message;
    }
    await this.finish(take, end);
    return end === "Played to its end.";
  }

  async begin(take) {
    await this.page.quiet();
    this.take = take;
    this.words.show(take.asked.input);
    this.wave.clear(take.rate);
    this.part("save").firstChild.data = take.extension.toUpperCase();
    this.part("words").hidden = false;
    this.isPlaying = true;
    this.allow();
    this.clear();
    this.follow(take);
  }

  listener(take) {
    return {
      words: (words) => this.take === take && this.words.tell(words),
      samples: (samples, isNew) => {
        if (this.take !== take) return;
        this.wave.add(samples);
        this.figures(take);
        if (isNew) this.say("Speaking.");
      },
    };
  }

  follow(take) {
    if (this.take !== take || !this.isPlaying) return;
    const position = take.player?.position ?? 0;
    this.wave.draw(position);
    this.words.light(position);
    requestAnimationFrame(() => this.follow(take));
  }

  async finish(take, end) {
    await take.close();
    if (this.take !== take) return;
    this.say(end);
    this.isPlaying = false;
    this.allow();
    this.wave.draw(take.seconds);
    this.words.light(take.seconds);
    this.figures(take);
  }

  async stop() {
    await this.take?.close();
  }

  // Its figures once the ledger has them, and its row in the table of takes.
  async keep(take) {
    const row = this.page.keep(this, take);
    take.settlement = await take.settled();
    row(take.settlement);
    if (this.take === take) this.charge(take);
  }

  figures(take) {
    this.tell("firstAudio", take.firstAudio === null ? "–" : `${take.firstAudio} ms`);
    this.tell("underruns", take.underruns);
    this.tell("audio", `${take.seconds.toFixed(1)} s`);
    this.tell("seed", take.seed ?? "–");
    if (take.settlement) this.charge(take);
  }

  charge({ id, settlement }) {
    this.tell("cost", cost(settlement));
    const link = document.createElement("a");
    link.href = this.page.urls.requests + id;
    link.textContent = settlement?.finish_reason ?? "open";
    this.part("ended").replaceChildren(link);
  }

  clear() {
    for (const name of ["firstAudio", "underruns", "audio", "seed", "cost", "ended"]) this.tell(name, "–");
  }

  allow() {
    const isKept = this.take?.pieces.length > 0;
    this.part("stop").disabled = !this.isPlaying;
    for (const name of ["again", "save"]) this.part(name).disabled = this.isPlaying || !isKept;
  }

  tell(name, text) {
    this.part(name).textContent = text;
  }

  say(text) {
    if (this.part("status").textContent !== text) this.tell("status", text);
  }
}

// Hides what is not on offer; who had chosen it has the first again.
function offer(select, isOffered) {
  for (const option of select.options) option.hidden = option.disabled = !isOffered(option.value);
  if (!select.selectedOptions[0] || select.selectedOptions[0].disabled) select.selectedIndex = 0;
}

export function cost(settlement) {
  if (!settlement) return "not settled yet";
  const characters = `${settlement.billed_characters} characters`;
  return settlement.price ? `${settlement.price} for ${characters}` : characters;
}
