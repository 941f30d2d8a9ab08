// One word, many meanings: its vectors in some sentences, static and contextual, on maps and in matrices.
import { latest, post } from "./api.js";
import { arranged, nearest } from "./arrange.js";
import { drawCurve } from "./curve.js";
import { button, choice, el, freshId, settled, status } from "./dom.js";
import { drawMap } from "./map.js";
import { drawMatrix } from "./matrix.js";
import { sentenceList, shared } from "./sentences.js";
import { layerWalk } from "./walk.js";
import { holds } from "./words.js";

const SENTENCES = [
  ["A", "A crack in the wall let cold air into the kitchen."],
  ["A", "The plaster had a long crack above the window."],
  ["B", "He was arrested with crack and two stolen phones."],
  ["B", "They sold crack to addicts behind the station."],
  ["C", "This puzzle is a hard nut to crack, even for experts."],
  ["C", "It took them years to crack the enemy's code."],
];

const contextual = (served) => served.models.filter((model) => model.family !== "static");

export function lack(served) {
  if (contextual(served).length) return null;
  return ["Only static vectors are served here, and they are the same in every sentence. Serve an encoder beside them: ", "polyseme serve runs/elmo runs/static"];
}

export function start(tools, served) {
  const models = contextual(served), statics = served.models.filter((model) => model.family === "static");
  const state = { word: "crack", sentences: SENTENCES.map(([meaning, text]) => ({ meaning, text })), model: models[0].name, other: statics[0]?.name ?? "", layer: null, found: null };
  const asked = latest(async (signal) => {
    const used = state.sentences.map((one, number) => ({ ...one, number })).filter(({ text }) => holds(text, state.word));
    if (!used.length) throw new Error(`No sentence has the word “${state.word}”. Choose one that is there, or add a sentence.`);
    const body = { word: state.word, inputs: used.map(({ text }) => text) };
    const [main, other] = await Promise.all([state.model, state.other].map((model) => model && post("/senses", { ...body, model }, signal)));
    return arranged(used, main, other || { layers: main.layers.slice(0, 1) });
  });
  const said = status(), list = sentenceList(state, changed), sides = [side("static"), side("contextual")], curve = drawCurve(setLayer), walk = layerWalk(setLayer);
  const word = el("input", { type: "text", id: freshId("word"), autocomplete: "off", autocapitalize: "none", spellcheck: "false", maxlength: 60, input: settled(typed) });
  const chips = el("p", { class: "chips" });
  const otherChoices = [...statics.map(({ name }) => [name, name]), ["", "layer 0 of the same model"]];

  tools.append(
    el("div", { class: "two" },
      el("div", { class: "panel" },
        el("div", { class: "row" }, el("label", { for: word.id }, "The word"), word), chips, list.list,
        button("+ Add a sentence", list.add, { class: "add" })),
      el("div", { class: "panel maps" },
        el("div", { class: "pair" },
          sides[0].box(choice("Static", otherChoices, state.other, (name) => { state.other = name; compute(); })),
          sides[1].box(choice("Contextual", models.map(({ name }) => [name, name]), state.model, (name) => { state.model = name; state.layer = null; compute(); }))),
        walk.box, said.line)),
    el("div", { class: "two lower" },
      el("figure", { class: "panel" }, el("figcaption", {}, el("h2", {}, "Meanings part"), el("p", { class: "dim" }, "The mean similarity of its vectors, layer by layer: where the lines part, the layer tells meanings apart.")), curve.figure),
      el("figure", { class: "panel" }, el("figcaption", {}, el("h2", {}, "How alike they are"), el("p", { class: "dim" }, "Cosines of the word's vectors; 1 is the same vector.")),
        el("div", { class: "pair" }, sides.map((one) => el("div", { class: "wide" }, one.matrix.table))))),
  );
  changed();

  function side(kind) {
    const note = el("p", { class: "dim note" });
    const map = drawMap(`Map of the ${kind} vectors`, (place) => point(place === null ? [] : [place]));
    return { box: (chooser) => el("figure", {}, el("figcaption", {}, chooser), map.figure, note), note, map, matrix: drawMatrix(kind, point) };
  }

  function point(places) {
    for (const one of sides) one.map.point(places);
    const rows = places.map((place) => state.found.occurrences[place].text);
    [...list.list.children].forEach((line) => line.classList.toggle("pointed", rows.includes(+line.dataset.place)));
  }

  function typed() {
    if (!word.value.trim()) return;
    state.word = word.value.trim();
    changed(false);
  }

  function changed(rewrite = true) {
    if (rewrite) word.value = state.word;
    list.draw();
    chips.replaceChildren("Words they share: ", ...shared(state.sentences).map((one) => button(one, () => choose(one), { class: "chip", "aria-pressed": one === state.word.toLowerCase() })));
    compute();
  }

  function choose(one) {
    state.word = one;
    changed();
    chips.querySelector("[aria-pressed=true]").focus();
  }

  async function compute() {
    walk.stop();
    try {
      const found = await asked();
      if (!found) return;
      state.found = found;
      setLayer(Math.min(state.layer ?? found.layers.length - 1, found.layers.length - 1));
    } catch (error) {
      said.fail(error);
    }
  }

  function setLayer(number) {
    if (!state.found) return;
    state.layer = number;
    show();
  }

  function show() {
    const { items, layers, fixed, reach, low } = state.found, here = layers[state.layer];
    walk.show(state.layer, layers.length);
    const names = [state.other || `${state.model}, layer 0`, `${state.model}, layer ${state.layer}`];
    [fixed, here].forEach((one, number) => {
      const { note, map, matrix } = sides[number];
      note.textContent = one.unknown ? "It does not know this word." : one.same ? "One word, one vector: all sentences are at one point." : `The plane shows ${Math.round(100 * one.share)} % of their spread.`;
      map.show(items, one.points, reach, `${note.textContent} ${nearest(items, one.cosines)}`);
      matrix.show(items, one.cosines, low, names[number]);
    });
    curve.show(layers.map((one) => one.alike), state.layer);
    said.say(summary(here));
  }

  function summary({ alike: { same, other } }) {
    if (same === null || other === null) return `${state.found.items.length} places of “${state.word}”.`;
    return `Layer ${state.layer}: the same meaning ${same.toFixed(2)} alike, different meanings ${other.toFixed(2)}.`;
  }
}
