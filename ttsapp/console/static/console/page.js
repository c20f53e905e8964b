// On every page: times in the viewer's zone (UTC stays in the tooltip), the current page in sight in
// a phone's navigation, and buttons that copy.
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

// Also for what a page gets later.
export function prepare(root) {
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

// A page that waits for the worker looks again, unless somebody is writing on it.
const waiting = document.querySelector("[data-reload]");
if (waiting) {
  setTimeout(() => {
    if (!document.activeElement?.matches("input, select, textarea")) location.reload();
  }, 1000 * waiting.dataset.reload);
}
