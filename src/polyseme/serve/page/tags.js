// Words with their tags beneath.
import { el } from "./dom.js";

export function chips(words, tags, classes) {
  return el("p", { class: "words" }, words.map((word, place) => [el("span", { class: `given tag ${tags[place] === "O" ? "none" : ""} ${classes[place]}` }, el("span", {}, word), el("small", {}, tags[place])), " "]));
}
