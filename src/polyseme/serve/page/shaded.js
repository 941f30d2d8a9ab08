// Words shaded by how much a score falls without them; the number under each says it without colour.
import { el, percent } from "./dom.js";

// One or two texts of which a class or a number is said.
export function shadedWords({ texts, scores, label }) {
  const most = Math.max(1e-9, ...texts.flatMap(({ falls }) => falls.map(Math.abs)));
  const unit = scores ? "points" : "";
  return el("div", {},
    texts.map(({ words, falls }) => el("p", { class: "words" }, words.map((word, place) => [shaded(word, falls[place], most, scores ? points : plain), " "]))),
    legend(scores ? `Without the word, the chance of ${label} falls by so many percentage points; where it rises, the word spoke against it.` : "Without the word, the number falls by so much; where it rises, the word held it down."),
    strongest(texts, unit, scores ? points : plain));
}

// A text of which each word has a tag: choose a word, and the others show what they did for its tag.
export function shadedTags({ label: tags, chances, texts: [{ words, falls }] }) {
  const line = el("p", { class: "words" }), about = el("p", { class: "status", role: "status" });
  let chosen = telling(tags, falls);
  draw();
  return el("div", {}, el("p", { class: "dim" }, "Choose a word: the others are shaded by what they did for its tag."), line, about,
    legend("The numbers are the percentage points by which the chance of that tag falls without the word. The chance is of the head's own scores, before rules or a CRF choose."));

  function draw(focus) {
    const most = Math.max(1e-9, ...falls.map((row) => Math.abs(row[chosen] ?? 0)));
    line.replaceChildren(...words.flatMap((word, place) => [tagged(word, place, most), " "]));
    about.textContent = words.length ? `“${words[chosen]}” is ${tags[chosen]}, with a chance of ${percent(chances[chosen])}.` : "There is no word yet.";
    if (focus) line.querySelectorAll("button")[chosen].focus();
  }

  function tagged(word, place, most) {
    const here = place === chosen, fall = falls[place][chosen];
    const made = here ? el("button", { class: "given chosen" }, el("span", {}, word)) : shaded(word, fall, most, points, "button");
    made.type = "button";
    made.setAttribute("aria-pressed", here);
    made.addEventListener("click", () => { chosen = place; draw(true); });
    made.append(el("small", { class: tags[place] === "O" ? "none" : "tagname" }, tags[place]));
    return made;
  }
}

// The tagged word that owes most to another one.
function telling(tags, falls) {
  const most = tags.map((tag, place) => (tag === "O" ? -1 : Math.max(0, ...falls.map((row) => Math.abs(row[place] ?? 0)))));
  return Math.max(0, most.indexOf(Math.max(...most)));
}

function shaded(word, fall, most, shown, name = "span") {
  const made = el(name, { class: `given ${fall < 0 ? "against" : "for"}` }, el("span", {}, word), el("small", {}, shown(fall)));
  made.style.setProperty("--strength", `${Math.round(44 * Math.min(1, Math.abs(fall) / most))}%`);
  return made;
}

// The same in words, the strongest first.
function strongest(texts, unit, shown) {
  const all = texts.flatMap(({ words, falls }) => words.map((word, place) => [word, falls[place]])).sort(([, one], [, other]) => Math.abs(other) - Math.abs(one));
  if (!all.length) return el("p", {}, "There is no word yet.");
  return el("p", { class: "dim" }, "Most: ", all.slice(0, 3).map(([word, fall]) => `“${word}” ${shown(fall)} ${unit}`.trim()).join(", "), ".");
}

const legend = (text) => el("p", { class: "legend" },
  el("span", { class: "given for key" }, el("span", {}, "for")), " ", el("span", { class: "given against key" }, el("span", {}, "against")), " ", el("span", { class: "dim" }, text));

const signed = (text, value) => (value > 0 ? `+${text}` : text.replace("-", "−"));
const points = (fall) => (Math.abs(fall) < 0.0005 ? "0" : signed((100 * fall).toFixed(Math.abs(fall) < 0.0995 ? 1 : 0), fall));
const plain = (fall) => (Math.abs(fall) < 0.005 ? "0" : signed(fall.toFixed(2), fall));
