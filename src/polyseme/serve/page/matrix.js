// How alike all are with all: a table whose cells are shaded, and can be walked through with the arrow keys.
import { el } from "./dom.js";

// `pointed` is told the two places of the cell that is pointed at, or [].
export function drawMatrix(name, pointed) {
  const caption = el("caption", {}, name), head = el("thead"), body = el("tbody");
  const table = el("table", { class: "matrix" }, caption, head, body);
  let cells = [], at = [0, 0];

  function show(items, cosines, low, title) {
    caption.textContent = title;
    at = at.map((place) => Math.min(place, items.length - 1));
    head.replaceChildren(el("tr", {}, el("td"), items.map((item) => el("th", { scope: "col" }, item.label))));
    cells = cosines.map((row, i) => row.map((value, j) => cell(value, i, j, low)));
    body.replaceChildren(...items.map((item, place) => el("tr", {}, el("th", { scope: "row" }, item.label), cells[place])));
    enter(at, false);
  }

  function cell(value, i, j, low) {
    const made = el("td", { tabindex: "-1", class: i === j ? "self" : "", mouseenter: () => pointed([i, j]), mouseleave: () => pointed([]),
      focus: () => { enter([i, j], false); pointed([i, j]); }, blur: () => pointed([]), keydown: (event) => walk(event, i, j) }, shown(value));
    const strength = Math.max(0, Math.min(1, (value - low) / (1 - low || 1)));
    const strong = strength > 0.7; // between the two ranges neither dark nor light numbers would be legible
    made.style.setProperty("--strength", `${Math.round(strong ? 88 + 40 * (strength - 0.7) : 64 * strength)}%`);
    made.classList.toggle("strong", strong);
    return made;
  }

  function walk(event, i, j) {
    const last = cells.length - 1;
    const to = { ArrowUp: [i - 1, j], ArrowDown: [i + 1, j], ArrowLeft: [i, j - 1], ArrowRight: [i, j + 1], Home: [i, 0], End: [i, last] }[event.key];
    if (!to || to.some((place) => place < 0 || place > last)) return;
    event.preventDefault();
    enter(to, true);
  }

  function enter([i, j], focus) {
    if (cells[at[0]]?.[at[1]]) cells[at[0]][at[1]].tabIndex = -1;
    at = [i, j];
    if (!cells[i]) return;
    cells[i][j].tabIndex = 0;
    if (focus) cells[i][j].focus();
  }

  return { table, show };
}

const shown = (value) => (Math.abs(value) < 0.005 ? "0.00" : value.toFixed(2).replace("-", "−"));
