// How alike the vectors are, layer by layer: those of the same meaning, and those of different ones.
import { svg } from "./dom.js";

const HEIGHT = 320, LEFT = 44, RIGHT = 136, TOP = 18, BOTTOM = 44;

// The mean cosine of pairs of the same meaning and of pairs of different meanings; null where there is no such pair.
export function alike(cosines, meanings) {
  const sums = { same: [0, 0], other: [0, 0] };
  cosines.forEach((row, i) => row.slice(0, i).forEach((value, j) => {
    const sum = sums[meanings[i] === meanings[j] ? "same" : "other"];
    sum[0] += value;
    sum[1] += 1;
  }));
  return { same: mean(sums.same), other: mean(sums.other) };
}

const mean = ([sum, count]) => (count ? sum / count : null);

export function drawCurve(chosen) {
  const heading = svg("title", {}, "Similarity layer by layer"), about = svg("desc"), drawing = svg("g", {});
  const figure = svg("svg", { class: "curve", role: "img" }, heading, about, drawing);
  let last = null;
  new ResizeObserver(() => last && show(...last)).observe(figure);

  // `layers` are {same, other}, `layer` the one that is shown elsewhere.
  function show(layers, layer) {
    last = [layers, layer];
    const width = Math.max(300, figure.clientWidth), right = width - RIGHT;
    const values = layers.flatMap(({ same, other }) => [same, other]).filter((value) => value !== null);
    const low = Math.min(0.9, Math.floor(10 * Math.min(...values)) / 10);
    const toX = (place) => LEFT + (place / Math.max(1, layers.length - 1)) * (right - LEFT);
    const toY = (value) => TOP + ((1 - value) / (1 - low)) * (HEIGHT - TOP - BOTTOM);
    about.textContent = layers.map(({ same, other }, place) => `Layer ${place}: same meaning ${told(same)}, different meanings ${told(other)}.`).join(" ");
    const half = (toX(1) - toX(0)) / 2 || 20;
    drawing.replaceChildren(
      svg("rect", { class: "here", x: toX(layer) - 15, width: 30, y: TOP - 8, height: HEIGHT - TOP - BOTTOM + 36, rx: 8 }),
      ...grid(low, toY, right), ...layers.map((_, place) => svg("text", { class: "tick", x: toX(place), y: HEIGHT - BOTTOM + 22, "text-anchor": "middle" }, place)),
      svg("text", { class: "tick", x: (LEFT + right) / 2, y: HEIGHT - 3, "text-anchor": "middle" }, "layer"),
      ...["same", "other"].flatMap((way) => line(layers.map((one) => one[way]), way, toX, toY)), ...ends(layers.at(-1), toX(layers.length - 1), toY),
      ...layers.map((_, place) => svg("rect", { class: "hit", x: toX(place) - half, width: 2 * half, y: 0, height: HEIGHT, click: () => chosen(place) })),
    );
  }

  return { figure, show };
}

function grid(low, toY, right) {
  const found = [];
  for (let value = 10; value >= Math.round(low * 10); value -= low < 0.45 ? 2 : 1) {
    const y = toY(value / 10);
    found.push(svg("line", { class: "grid", x1: LEFT, x2: right + 16, y1: y, y2: y }));
    found.push(svg("text", { class: "tick", x: LEFT - 8, y: y + 5, "text-anchor": "end" }, (value / 10).toFixed(1)));
  }
  return found;
}

function line(values, way, toX, toY) {
  if (values.includes(null)) return [];
  const points = values.map((value, place) => [toX(place), toY(value)]);
  return [
    svg("polyline", { class: `line ${way}`, points: points.map((point) => point.join(",")).join(" ") }),
    ...points.map(([x, y]) => (way === "same" ? svg("circle", { class: `dot ${way}`, cx: x, cy: y, r: 5 }) : svg("rect", { class: `dot ${way}`, x: x - 4.5, y: y - 4.5, width: 9, height: 9 }))),
  ];
}

// Names at the ends of the lines, kept apart where the lines meet.
function ends({ same, other }, x, toY) {
  const names = [[same, "same meaning", "same"], [other, "other meaning", "other"]].filter(([value]) => value !== null);
  const places = names.map(([value]) => toY(value) + 5);
  if (places.length === 2 && places[1] - places[0] < 18) { const middle = (places[0] + places[1]) / 2; places[0] = middle - 9; places[1] = middle + 9; }
  return names.map(([, name, way], place) => svg("text", { class: `name ${way}`, x: x + 20, y: places[place] }, name));
}

const told = (value) => (value === null ? "none" : value.toFixed(2));
