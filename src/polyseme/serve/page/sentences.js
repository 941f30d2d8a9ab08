// The list of sentences: each shows its mark and its words, any of which can be chosen, and can be edited or removed.
import { button, el } from "./dom.js";
import { MEANINGS, badge, signOf } from "./marks.js";
import { holds, matches, same, wordsOf } from "./words.js";

// The words that several sentences have in common, the longest of the most frequent first.
export function shared(sentences) {
  const counts = new Map();
  for (const { text } of sentences) {
    for (const word of new Set(wordsOf(text).map((one) => one.toLowerCase()))) counts.set(word, (counts.get(word) || 0) + 1);
  }
  const often = [...counts].filter(([, count]) => count > 1);
  return often.sort(([a, n], [b, m]) => m - n || b.length - a.length).map(([word]) => word).slice(0, 6);
}

// `state` has sentences [{text, meaning}] and a word; `changed` is called when either did.
export function sentenceList(state, changed) {
  const list = el("ol", { class: "sentences" });

  function draw() {
    list.replaceChildren(...state.sentences.map(row));
  }

  function row(sentence, place) {
    const here = holds(sentence.text, state.word);
    const shown = el("p", { class: "sentence" }, words(sentence.text), here ? null : el("em", {}, ` (without “${state.word}”)`));
    const number = place + 1;
    const line = el("li", { class: here ? "" : "left-out", "data-place": place }, meaning(sentence, number), shown,
      button("✎", () => edit(line, sentence, number), { class: "quiet", "aria-label": `Edit sentence ${number}` }),
      button("✕", () => remove(place), { class: "quiet", "aria-label": `Remove sentence ${number}`, disabled: state.sentences.length < 2 }));
    return line;
  }

  function words(text) {
    const parts = [];
    let end = 0;
    for (const match of matches(text)) {
      parts.push(text.slice(end, match.index));
      const chosen = same(match[0], state.word);
      parts.push(el(chosen ? "mark" : "span", { class: "word", title: `Choose “${match[0]}”`, click: () => choose(match[0]) }, match[0]));
      end = match.index + match[0].length;
    }
    return [...parts, text.slice(end)];
  }

  function choose(word) {
    state.word = word.toLowerCase();
    changed();
  }

  function meaning(sentence, number) {
    const list = el("select", { "aria-label": `Meaning of the word in sentence ${number}`, title: "Which meaning it has here", change: () => { sentence.meaning = list.value; changed(); focus(number - 1, "select"); } },
      MEANINGS.map((one) => el("option", { value: one, selected: one === sentence.meaning }, `${signOf(one)} meaning ${one}`)));
    return el("span", { class: "meaning" }, badge(sentence.meaning, number), list);
  }

  function edit(line, sentence, number) {
    const field = el("textarea", { rows: 2, "aria-label": `Sentence ${number}`, spellcheck: "false", maxlength: 2000 });
    field.value = sentence.text;
    let ended = false; // the field leaves the page with the focus, which would end it a second time
    const done = (keep) => {
      if (ended) return;
      ended = true;
      const focused = field === document.activeElement;
      if (keep && field.value.trim()) sentence.text = field.value.trim();
      if (keep) changed(); else draw();
      if (focused) focus(number - 1, "button");
    };
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.isComposing) { event.preventDefault(); done(true); }
      if (event.key === "Escape") done(false);
    });
    field.addEventListener("blur", ({ relatedTarget: next }) => {
      const name = list.contains(next) && next.getAttribute("aria-label");
      done(true);
      if (name) list.querySelector(`[aria-label="${name}"]`).focus(); // the list was drawn anew, the focus goes on in it
    });
    line.querySelector(".sentence").replaceWith(field);
    field.focus();
    field.select();
  }

  function remove(place) {
    state.sentences.splice(place, 1);
    changed();
    focus(Math.min(place, state.sentences.length - 1), "button:last-child");
  }

  function focus(place, what) {
    list.children[place]?.querySelector(what)?.focus();
  }

  function add() {
    state.sentences.push({ text: `Another sentence with ${state.word}.`, meaning: "A" });
    changed();
    focus(state.sentences.length - 1, "button");
    list.lastChild.querySelector("button").click();
  }

  return { list, draw, add };
}
