// On every page: times in the viewer's zone (UTC stays in the tooltip), the current page in sight in
// a phone's navigation, tables that fit a phone, and buttons that copy.
const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

// Without https the clipboard is closed to pages: then the text is selected, ready for Ctrl-C.
async function copy(block) {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(block.textContent);
    return "Copied";
  }
  getSelection().selectAllChildren(block);
  return "Selected";
}

// A phone shows each row as a card, and each cell with the name of its column; nothing is left out
// but cells that say that there is nothing. Whoever adds rows asks again.
const ROLES = { TR: "row", TD: "cell", TH: "rowheader" };
export function label(table) {
  const heads = [...(table.tHead?.rows[0]?.cells ?? [])];
  const names = heads.map((head) => (head.querySelector(".hidden") ? "" : head.textContent.trim()));
  table.classList.add("cards");
  table.setAttribute("role", "table");
  for (const row of [...table.tBodies].flatMap((body) => [...body.rows])) {
    row.setAttribute("role", ROLES.TR);
    [...row.cells].forEach((cell, place) => {
      cell.setAttribute("role", ROLES[cell.tagName]);
      if (place > 0 && names[place] && cell.colSpan === 1) cell.dataset.label = names[place];
      cell.toggleAttribute("data-empty", place > 0 && !("value" in cell.dataset) && ["", "–"].includes(cell.textContent.trim()));
    });
  }
}

// Also for what a page gets later.
export function prepare(root) {
  root.querySelectorAll(".scroll > table").forEach(label);
  for (const element of root.querySelectorAll("time[datetime]")) {
    element.textContent = format.format(new Date(element.dateTime));
  }
  for (const button of root.querySelectorAll("[data-copy]")) {
    button.addEventListener("click", async () => {
      button.textContent = await copy(button.parentElement.querySelector("code")).catch(() => "Failed");
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
  }
}

prepare(document);

// A page that waits for something looks again, unless it is out of sight or somebody is at work on it.
const isInUse = () => document.hidden || document.activeElement?.matches("input, select, textarea") ||
  document.querySelector("main details[open], dialog[open]") !== null;
const waiting = document.querySelector("[data-reload]");
if (waiting) setInterval(() => isInUse() || location.reload(), 1000 * waiting.dataset.reload);
