// The layers of a fitted task: its weights as it learned them, and what it would say with others.
import { latest, post } from "./api.js";
import { bars } from "./bars.js";
import { button, choice, el, settled, status } from "./dom.js";
import { mixer } from "./mix.js";
import { textFields } from "./own.js";
import { chips } from "./tags.js";

const mixing = (served) => served.fitted.filter((model) => model.weights && model.task !== "span");

export function lack(served) {
  if (mixing(served).length) return null;
  return ["No fitted task that mixes its layers is served. Fit one with --layers mix, and serve it: ", "polyseme serve runs/reviews"];
}

export function start(tools, served) {
  const models = mixing(served), body = el("div", {});
  if (models.length > 1) tools.append(el("div", { class: "row" }, choice("Fitted model", models.map(({ name }) => [name, name]), models[0].name, (name) => open(models.find((one) => one.name === name)))));
  tools.append(body);
  open(models[0]);

  function open(model) {
    body.replaceChildren(task(model));
  }
}

function task(model) {
  const said = status(), learnedMix = { weights: model.weights, gamma: model.gamma }, prediction = el("div", { class: "prediction" });
  const later = settled(() => compute(), 60);
  const fields = textFields(model, () => { learned = null; later(); }), mix = mixer(model, later);
  const n = model.layers.length, only = (place) => mix.set(model.layers.map((_, other) => (other === place ? 1 : 0)));
  let learned = null; // what it says with the mix it learned, of the same text
  const asked = latest(async (signal) => {
    const request = (chosen) => post("/layers", { model: model.name, ...fields.given(), ...chosen }, signal);
    return Promise.all([request(mix.mix()), learned ?? request(learnedMix)]);
  });
  compute();
  return el("div", { class: "two even" },
    el("div", { class: "panel" }, el("h2", {}, "The mix"), mix.box,
      el("div", { class: "row" }, button("As learned", () => mix.set(model.weights, model.gamma)), button("Equal", () => mix.set(model.layers.map(() => 1 / n))),
        button("Only the lowest", () => only(0)), button("Only the top", () => only(n - 1))),
      el("p", { class: "dim" }, "A small line marks what was learned.")),
    el("div", { class: "panel says" }, el("h2", {}, "What it would say"), fields.box, prediction, said.line));

  async function compute() {
    try {
      const found = await asked();
      if (found) show(...found);
    } catch (error) {
      said.fail(error);
    }
  }

  function show(now, before) {
    learned = before;
    prediction.replaceChildren(model.task === "tag" ? tags(now, before) : now.scores ? classes(now, before) : number(now, before));
    const changed = JSON.stringify(now.label) !== JSON.stringify(before.label);
    said.say(model.task === "tag" ? (changed ? "Some tags are others than with the learned mix." : "The same tags as with the learned mix.")
      : now.scores ? `${now.label}${changed ? `, instead of ${before.label} with the learned mix` : ", as with the learned mix"}.` : "");
  }
}

function classes(now, before) {
  return bars(Object.entries(now.scores).map(([name, share]) => ({ name, share, before: before.scores[name], strong: name === now.label })));
}

const tags = (now, before) => chips(now.words, now.label, now.label.map((tag, place) => (tag === before.label[place] ? "" : "changed")));

const number = (now, before) => el("p", { class: "big" }, now.label.toFixed(2), el("small", { class: "dim" }, ` learned mix: ${before.label.toFixed(2)}`));
