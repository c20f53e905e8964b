// The text of a take, whose words light up while they are heard. Times come behind the audio, word
// by word and in the order of the text: what has none yet stays as it is.
export class Words {
  constructor(paragraph) {
    this.paragraph = paragraph;
    this.show("");
  }

  show(text) {
    this.rest = document.createTextNode(text);
    this.timed = [];
    this.paragraph.replaceChildren(this.rest);
  }

  tell(words) {
    for (const { word, start, end } of words) {
      const at = this.rest.data.indexOf(word);
      if (at < 0) continue;
      const begun = this.rest.splitText(at);
      this.rest = begun.splitText(word.length);
      const mark = document.createElement("span");
      begun.replaceWith(mark);
      mark.append(begun);
      this.timed.push({ mark, start, end });
    }
  }

  light(position) {
    for (const { mark, start, end } of this.timed) {
      const state = position >= end ? "said" : position >= start ? "now" : "";
      if (mark.className !== state) mark.className = state;
    }
  }
}
