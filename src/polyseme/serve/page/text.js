// A text of one's own: what a fitted model says of it, its words shaded by what they contributed.
import { latest, post } from "./api.js";
import { bars } from "./bars.js";
import { choice, el, percent, status } from "./dom.js";
import { textFields } from "./own.js";
import { shadedTags, shadedWords } from "./shaded.js";

const TASKS = { classify: "classes", pair: "pairs", regress: "a number", tag: "tags" };
const able = (served) => served.fitted.filter((model) => model.task in TASKS);

export function lack(served) {
  if (able(served).length) return null;
  return ["No model that was fitted to classes or tags is served. Fit one, and serve it: ", "polyseme serve runs/reviews"];
}

export function start(tools, served) {
  const models = able(served), body = el("div", {});
  const names = models.map(({ name, task }) => [name, `${name} (${TASKS[task]})`]);
  tools.append(el("div", { class: "row" }, choice("Fitted model", names, models[0].name, (name) => open(models.find((one) => one.name === name)))), body);
  open(models[0]);

  function open(model) {
    body.replaceChildren(task(model));
  }
}

function task(model) {
  const said = status(), result = el("div", { class: "prediction" }), shading = el("div", { class: "shading" }), fields = textFields(model, compute);
  const asked = latest((signal) => post("/contributions", { model: model.name, ...fields.given() }, signal));
  compute();
  return el("div", { class: "two even" },
    el("div", { class: "panel" }, fields.box, result, said.line),
    el("div", { class: "panel" }, el("h2", {}, "What each word contributed"), shading));

  async function compute() {
    try {
      const found = await asked();
      if (found) show(found);
    } catch (error) {
      said.fail(error);
    }
  }

  function show(found) {
    if (model.task === "tag") {
      result.replaceChildren();
      shading.replaceChildren(shadedTags(found));
      const n = found.label.filter((tag) => tag !== "O").length;
      said.say(`${found.label.length} words, ${n} with a tag.`);
    } else {
      result.replaceChildren(found.scores ? classes(found) : el("p", { class: "big" }, found.label.toFixed(2)));
      shading.replaceChildren(shadedWords(found));
      said.say(found.scores ? `${found.label}: ${percent(found.scores[found.label])}.` : `${found.label.toFixed(2)}.`);
    }
  }
}

function classes(found) {
  const rows = Object.entries(found.scores).sort(([, one], [, other]) => other - one).slice(0, 12);
  return bars(rows.map(([name, share]) => ({ name, share, strong: name === found.label })));
}
