// Forms that are sent with a passkey: data-passkey says whether one is made ("create") or asked for
// ("get"), data-options where the questions come from when they are not in the form itself.
async function questions(form) {
  if (!form.dataset.options) return JSON.parse(form.querySelector("script").textContent);
  const answer = await fetch(form.dataset.options, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error("The server did not answer: reload the page.");
  return (await answer.json()).request_options;
}

async function credential(form) {
  const { publicKey } = await questions(form);
  if (form.dataset.passkey === "get") {
    return navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(publicKey) });
  }
  const alone = form.elements.passwordless.checked;
  const choice = publicKey.authenticatorSelection;
  choice.residentKey = alone ? "required" : "discouraged";
  choice.requireResidentKey = alone;
  if (alone) choice.userVerification = "required";
  return navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(publicKey) });
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  if (!window.PublicKeyCredential?.parseRequestOptionsFromJSON) continue;
  const problem = form.querySelector(".problem");
  form.querySelector("button[type=submit]").hidden = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    problem.hidden = true;
    try {
      form.elements.credential.value = JSON.stringify(await credential(form));
      form.submit();
    } catch (error) {
      problem.textContent = error.name === "NotAllowedError" ? "No passkey was used." : error.message;
      problem.hidden = false;
    }
  });
}
