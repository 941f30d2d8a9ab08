// A map of vectors: a mark a sentence, at its true place or tied to it by a line where marks would hide each other.
import { svg } from "./dom.js";
import { mark } from "./marks.js";
import { tipped } from "./tip.js";

const SIZE = 400, EDGE = 46, APART = 36;

// `pointed` is told the place of the mark that is pointed at, or null.
export function drawMap(title, pointed) {
  const heading = svg("title", {}, title), about = svg("desc");
  const lines = svg("g", { class: "stars" }), ties = svg("g", { class: "ties" }), marks = svg("g", {});
  const figure = svg("svg", { class: "map", viewBox: `0 0 ${SIZE} ${SIZE}`, role: "group" }, heading, about, cross(), lines, ties, marks);
  let drawn = [];

  // `items` are {label, meaning, sentence}, `points` their places and `reach` the distance that is at the edge.
  function show(items, points, reach, description) {
    about.textContent = description;
    const scale = (SIZE / 2 - EDGE) / (reach || 1);
    const places = points.map(([x, y]) => [SIZE / 2 + x * scale, SIZE / 2 - y * scale]);
    const moved = spread(places);
    const key = JSON.stringify(items);
    if (drawn.key !== key) drawn = anew(items, key);
    items.forEach((item, place) => {
      const [x, y] = moved[place], [u, v] = places[place], [cx, cy] = middle(items, places, item.meaning);
      drawn.marks[place].style.transform = `translate(${x}px, ${y}px)`;
      drawn.marks[place].setAttribute("aria-label", `Sentence ${item.label}, meaning ${item.meaning}: ${item.sentence}`);
      stretch(drawn.ties[place], u, v, x, y);
      stretch(drawn.lines[place], cx, cy, u, v);
      drawn.dots[place].style.transform = `translate(${u}px, ${v}px)`;
    });
  }

  function anew(items, key) {
    const made = {
      key,
      marks: items.map((item, place) => pointable(item, place)),
      ties: items.map(() => svg("line", { x2: 1 })),
      dots: items.map(() => svg("circle", { r: 3 })),
      lines: items.map((item) => svg("line", { x2: 1, class: `meaning-${item.meaning}` })),
    };
    marks.replaceChildren(...made.marks);
    ties.replaceChildren(...made.ties, ...made.dots);
    lines.replaceChildren(...made.lines);
    return made;
  }

  function pointable(item, place) {
    const made = mark(item.meaning, item.label);
    made.setAttribute("tabindex", "0");
    made.setAttribute("role", "img");
    for (const event of ["mouseenter", "focus"]) made.addEventListener(event, () => pointed(place));
    for (const event of ["mouseleave", "blur"]) made.addEventListener(event, () => pointed(null));
    return tipped(made, () => item.sentence);
  }

  function point(places) {
    drawn.marks?.forEach((made, place) => made.classList.toggle("pointed", places.includes(place)));
  }

  return { figure, show, point };
}

const cross = () => svg("path", { class: "cross", d: `M${SIZE / 2} 14v${SIZE - 28}M14 ${SIZE / 2}h${SIZE - 28}` });

// A line of length 1 turned and stretched, so that it moves as smoothly as the marks do.
function stretch(line, x, y, u, v) {
  const angle = Math.atan2(v - y, u - x);
  line.style.transform = `translate(${x}px, ${y}px) rotate(${angle}rad) scaleX(${Math.hypot(u - x, v - y)})`;
}

function middle(items, places, meaning) {
  const own = places.filter((_, place) => items[place].meaning === meaning);
  return [0, 1].map((axis) => own.reduce((sum, place) => sum + place[axis], 0) / own.length);
}

// Marks that overlap push each other away; those at the same place begin on a circle round it.
function spread(places) {
  const moved = places.map((place, i) => {
    const here = places.map((other, j) => [j, Math.hypot(place[0] - other[0], place[1] - other[1])]).filter(([, far]) => far < 6).map(([j]) => j);
    const turn = here.indexOf(i) / here.length, radius = here.length > 1 ? APART / 2 / Math.sin(Math.PI / here.length) : 0;
    return [place[0] + radius * Math.sin(2 * Math.PI * turn), place[1] - radius * Math.cos(2 * Math.PI * turn)];
  });
  for (let turn = 0; turn < 200; turn++) {
    let still = true;
    for (let i = 0; i < moved.length; i++) {
      for (let j = 0; j < i; j++) {
        const dx = moved[i][0] - moved[j][0], dy = moved[i][1] - moved[j][1], length = Math.hypot(dx, dy) || 1e-6;
        if (length >= APART - 0.5) continue;
        still = false;
        const push = (APART - length) / 2 / length;
        moved[i][0] += dx * push; moved[i][1] += dy * push;
        moved[j][0] -= dx * push; moved[j][1] -= dy * push;
      }
    }
    if (still) break;
  }
  return moved.map((place) => place.map((value) => Math.min(SIZE - 20, Math.max(20, value))));
}
