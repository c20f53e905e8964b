// A form with a file that is sent from where it stands: a browser forgets the file with the page, so
// what is refused is told here, and the file stays chosen.
const UNHEARD = "The server did not answer. What you filled in is still here: send it again in a moment.";

function clear(form) {
  form.querySelectorAll(".problem[role=alert]").forEach((each) => each.remove());
  for (const each of document.querySelectorAll("[data-refused]")) each.remove();
}

function notice(text) {
  const made = document.createElement("div");
  made.className = "notice bad";
  made.setAttribute("role", "alert");
  made.dataset.refused = "";
  made.textContent = text;
  return made;
}

// What the answered page says of the same form: above it, and beside its fields.
function tell(form, answer) {
  const same = [...answer.forms].find((each) => each.getAttribute("action") === form.getAttribute("action") && each.hasAttribute("data-stay"));
  for (const each of answer.querySelectorAll("[data-refused]")) form.prepend(document.adoptNode(each));
  for (const problem of same?.querySelectorAll(".field .problem") ?? []) {
    const name = problem.closest(".field").querySelector("[name]").name;
    form.elements[name].closest(".field").append(document.adoptNode(problem));
  }
  return form.querySelector(".problem[role=alert], [data-refused]");
}

async function send(form) {
  const response = await fetch(form.getAttribute("action") ?? location.href, { method: "POST", body: new FormData(form) });
  if (response.redirected) return location.assign(response.url);
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  clear(form);
  if (!tell(form, page)) form.prepend(notice(page.querySelector("main p")?.textContent ?? `The server answered ${response.status}.`));
}

for (const form of document.querySelectorAll("form[data-stay]")) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = event.submitter ?? form.querySelector("[type=submit]");
    const name = button.textContent;
    button.disabled = true;
    button.textContent = "Working …";
    try {
      await send(form);
    } catch {
      clear(form);
      form.prepend(notice(UNHEARD));
    }
    button.disabled = false;
    button.textContent = name;
    form.querySelector("[data-refused], .problem[role=alert]")?.scrollIntoView({ block: "center" });
  });
}
