// The fields for a text of one's own, or for two where pairs are read, with something to begin with.
import { el, freshId, settled } from "./dom.js";

// `changed` is called a moment after typing stops.
export function textFields(model, changed) {
  const names = model.pairs ? ["First text", "Second text"] : ["Text"];
  const fields = names.map((_, place) => {
    const field = el("textarea", { id: freshId("own"), rows: 2, maxlength: 5000, spellcheck: "false", input: settled(changed, 400) });
    field.value = example(model)[place];
    return field;
  });
  return {
    box: el("div", { class: "fields" }, fields.map((field, place) => [el("label", { for: field.id }, names[place]), field])),
    given: () => (model.pairs ? { text: fields[0].value, second: fields[1].value } : { text: fields[0].value }),
  };
}

function example(model) {
  if (model.pairs) return ["A man is playing a guitar.", "Someone makes music."];
  if (model.task === "tag") return ["John Smith flew from London to Paris in April."];
  if (model.labels.some((label) => /^(pos|good|1)/i.test(label))) return ["The plot is thin, but what a wonderful cast!"];
  if (model.labels.includes("LOC")) return ["What is the name of the bank that Jesse James robbed?"];
  return ["There was a long crack in the wall of the old bank."];
}
