// On every page: times in the viewer's zone (UTC stays in the tooltip), the current page in sight in
// a phone's navigation, and buttons that copy.
const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
for (const element of document.querySelectorAll("time[datetime]")) {
  element.textContent = format.format(new Date(element.dateTime));
}

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

for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    button.textContent = await copy(button.parentElement.querySelector("code")).catch(() => "Failed");
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
}

// A page that waits for the worker looks again, unless somebody is writing on it.
const waiting = document.querySelector("[data-reload]");
if (waiting) {
  setTimeout(() => {
    if (!document.activeElement?.matches("input, select, textarea")) location.reload();
  }, 1000 * waiting.dataset.reload);
}
