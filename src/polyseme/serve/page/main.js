// The page: which models are served, which section is shown, light or dark.
import { get } from "./api.js";
import { el } from "./dom.js";
import * as blanks from "./fill.js";
import * as layers from "./layers.js";
import * as report from "./report.js";
import * as meanings from "./senses.js";
import * as text from "./text.js";

const SECTIONS = { meanings, blanks, layers, text, report }; // each has lack(served) and start(tools, served)
const started = new Set();
let served;

function show(moved) {
  const name = location.hash.slice(1) in SECTIONS ? location.hash.slice(1) : "meanings";
  for (const section of document.querySelectorAll("main > section")) section.hidden = section.id !== name;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const heading = document.getElementById(`h-${name}`);
  document.title = `${heading.textContent} · polyseme`;
  if (moved) { heading.focus({ preventScroll: true }); scrollTo(0, 0); }
  start(name);
}

function start(name) {
  if (!served || started.has(name)) return;
  started.add(name);
  const tools = document.querySelector(`#${name} .tools`), lack = SECTIONS[name].lack(served);
  if (lack) tools.append(absent(...lack));
  else SECTIONS[name].start(tools, served);
}

const absent = (sentence, command) => el("p", { class: "absent" }, sentence, el("code", {}, command));

function switchTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches, root = document.documentElement;
  root.dataset.theme = (root.dataset.theme ?? (dark ? "dark" : "light")) === "dark" ? "light" : "dark";
}

async function begin() {
  document.getElementById("theme").addEventListener("click", switchTheme);
  addEventListener("hashchange", () => { if (location.hash !== "#main") show(true); });
  show(false);
  try {
    const [info, looking] = await Promise.all([get("/info"), get("/looking")]);
    served = { models: info.models, fitted: looking.models, report: looking.report };
    document.getElementById("served").textContent = `Served: ${info.models.map((model) => model.name).join(", ")}.`;
    show(false);
  } catch (error) {
    document.querySelector("main").prepend(el("p", { class: "absent", role: "alert" }, error.message));
  }
}

begin();
