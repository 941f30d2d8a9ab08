// Fill the blank: what each language model would write there, by each way of reading.
import { latest, post } from "./api.js";
import { bars } from "./bars.js";
import { button, el, freshId, percent, settled, status } from "./dom.js";

const MASK = "[MASK]";
const EXAMPLES = ["The company said it will [MASK] its stake.", "There was a [MASK] in the wall.", "They walked along the [MASK] of the river.", "The bank raised interest [MASK] again."];
const WAYS = { forward: "from the left", backward: "from the right", both: "both sides" };

const fillers = (served) => served.models.filter((model) => model.fills);

export function lack(served) {
  if (fillers(served).length) return null;
  return ["No language model is served. Serve one that was pretrained here, or a BERT with its output layer: ", "polyseme serve runs/bert runs/elmo"];
}

export function start(tools, served) {
  const models = fillers(served), said = status(), results = el("div", { class: "cards" });
  const field = el("textarea", { id: freshId("blank"), rows: 2, maxlength: 2000, spellcheck: "false", input: settled(compute, 500), keydown: entered });
  const asked = latest((signal, text) => Promise.all(models.map(async ({ name }) => {
    try {
      return (await post("/fill", { inputs: [text], n: 9, model: name }, signal))[0];
    } catch (error) {
      if (signal.aborted) throw error;
      return error; // one model may be at a loss where another is not
    }
  })));
  field.value = EXAMPLES[0];
  tools.append(
    el("div", { class: "panel" },
      el("label", { for: field.id }, "A sentence with a blank, written ", el("code", {}, MASK)), field,
      el("div", { class: "row" }, button("Put a blank here", putBlank), el("span", { class: "dim" }, "or try"), EXAMPLES.map((text) => button(text.replace(MASK, "___"), () => { field.value = text; compute(); }, { class: "chip" }))),
      said.line),
    results);
  compute();

  function entered(event) {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); compute(); }
  }

  // In place of what is selected, or of the word the cursor is in.
  function putBlank() {
    let { selectionStart: start, selectionEnd: end } = field;
    if (start === end) {
      while (start > 0 && /[\p{L}\p{N}'’-]/u.test(field.value[start - 1])) start--;
      while (end < field.value.length && /[\p{L}\p{N}'’-]/u.test(field.value[end])) end++;
    }
    field.setRangeText(MASK, start, end, "end");
    field.focus();
    compute();
  }

  async function compute() {
    if (!field.value.includes(MASK)) return said.fail(new Error(`There is no blank yet. Write ${MASK} where a word is wanted, or use the button.`));
    said.say("Reading …");
    try {
      const found = await asked(field.value);
      if (found) show(found, field.value);
    } catch (error) {
      said.fail(error);
    }
    return undefined;
  }

  function show(found, text) {
    results.replaceChildren(...found.map((masks, place) => card(models[place], masks, text)));
    const first = found.findIndex((masks) => Array.isArray(masks));
    said.say(first < 0 ? "" : `${models[first].name} would write: ${found[first].map((ways) => known(ways.both ?? Object.values(ways)[0])[0]?.word ?? "…").join(", ")}.`);
  }
}

function card(model, masks, text) {
  const box = el("article", { class: "panel" }, el("h2", {}, model.name, " ", el("small", { class: "dim" }, family(model))));
  if (masks instanceof Error) box.append(el("p", { class: "status wrong" }, masks.message));
  else masks.forEach((ways, place) => box.append(masks.length > 1 ? el("h3", {}, `Blank ${place + 1}`) : "", el("div", { class: "ways" }, columns(ways, text, place, masks.length > 1 ? "h4" : "h3"))));
  return box;
}

function columns(ways, text, place, heading) {
  const most = Math.max(...Object.values(ways).flatMap((words) => known(words).map(({ chance }) => chance)));
  return Object.keys(WAYS).filter((way) => way in ways).map((way) => el("section", {},
    el(heading, {}, Object.keys(ways).length > 1 ? WAYS[way] : "all of it"), seen(way, text, place),
    bars(known(ways[way]).map(({ word, chance }, rank) => ({ name: word, share: chance, strong: rank === 0 })), { most }), unknown(ways[way])));
}

// An unknown word is no suggestion, but how much of the chance it takes is said.
const UNKNOWN = new Set(["<unk>", "<UNK>", "[UNK]", "xxunk"]);
const known = (words) => words.filter(({ word }) => !UNKNOWN.has(word)).slice(0, 8);

function unknown(words) {
  const found = words.find(({ word }) => UNKNOWN.has(word));
  return found ? el("p", { class: "dim note" }, `${percent(found.chance)} for a word outside its vocabulary`) : null;
}

// The sentence as this way of reading sees it: the rest is struck out.
function seen(way, text, place) {
  const parts = text.split(MASK), left = parts.slice(0, place + 1).join("…"), right = parts.slice(place + 1).join("…");
  return el("p", { class: "seen" },
    el(way === "backward" ? "s" : "span", {}, left), el("b", { class: "blank" }, " "), el(way === "forward" ? "s" : "span", {}, right));
}

const FAMILIES = { bert: "BERT", elmo: "ELMo", awd_lstm: "AWD-LSTM", static: "static vectors" };
export const family = (model) => FAMILIES[model.family] ?? model.family;
