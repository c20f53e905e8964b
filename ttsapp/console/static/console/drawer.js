// A link with data-drawer opens its page's content beside the list. Without scripts, with a modifier
// key or in another tab it is the link that it is.
import { prepare } from "./page.js";

const drawer = document.createElement("dialog");
drawer.className = "drawer";
drawer.setAttribute("aria-label", "Details");

function closeButton() {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Close";
  button.addEventListener("click", () => drawer.close());
  return button;
}

// Ids of the page below may be the same: a label would be its field's and not the drawer's.
const REFERENCES = ["for", "aria-labelledby", "aria-describedby", "aria-controls", "list"];
function setApart(main) {
  for (const each of main.querySelectorAll("[id]")) each.id = `drawer-${each.id}`;
  for (const name of REFERENCES) {
    for (const each of main.querySelectorAll(`[${name}]`)) {
      each.setAttribute(name, each.getAttribute(name).replace(/\S+/g, "drawer-$&"));
    }
  }
}

async function content(url) {
  const answer = await fetch(url, { headers: { Accept: "text/html" } });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const main = page.getElementById("main");
  // A page that sends elsewhere, such as to the sign-in, is opened as a page.
  if (!answer.ok || answer.redirected || !main) throw new Error(answer.status);
  for (const form of main.querySelectorAll("form:not([action])")) form.action = url;
  setApart(main);
  return main;
}

async function open(link) {
  const main = await content(link.href);
  const whole = document.createElement("a");
  whole.href = link.href;
  whole.textContent = "Open as a page";
  const head = document.createElement("p");
  head.className = "row middle";
  head.append(closeButton(), whole);
  drawer.replaceChildren(head, ...main.childNodes);
  prepare(drawer);
  drawer.showModal();
}

// Behind it, outside its edge.
drawer.addEventListener("click", (event) => {
  if (event.target === drawer) drawer.close();
});

document.body.append(drawer);
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-drawer]");
  const isPlain = !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey && event.button === 0;
  if (!link || !isPlain) return;
  event.preventDefault();
  open(link).catch(() => location.assign(link.href));
});
