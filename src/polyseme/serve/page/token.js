// Where the server wants a token, a dialog asks for it once, for all requests that wait.
import { el } from "./dom.js";

let asking = null;

export function askForToken(wasWrong) {
  asking ??= ask(wasWrong).finally(() => { asking = null; });
  return asking;
}

function ask(wasWrong) {
  const field = el("input", { type: "password", id: "token", autocomplete: "off", required: true });
  const form = el("form", { method: "dialog" },
    el("h2", { id: "h-token" }, "This server wants a token"),
    el("p", {}, wasWrong ? "That was not it. " : "", "It was given to the server with --token-file or POLYSEME_TOKEN."),
    el("label", { for: "token" }, "Token"), field, el("button", { class: "main" }, "Go on"));
  const dialog = el("dialog", { "aria-labelledby": "h-token" }, form);
  document.body.append(dialog);
  dialog.addEventListener("cancel", (event) => event.preventDefault());
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => { dialog.remove(); resolve(field.value.trim()); });
  });
}
