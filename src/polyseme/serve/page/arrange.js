// What /senses found, made ready to be drawn: names of the points, a map a layer, a common scale.
import { alike } from "./curve.js";
import { aligned, plane } from "./pca.js";

// `used` are the sentences that were sent, `main` and `other` the answers for the contextual and the static vectors.
export function arranged(used, main, other) {
  const occurrences = main.occurrences.map((one) => ({ ...one, text: used[one.text].number }));
  const items = occurrences.map(({ text }, place) => {
    const sentence = used.find(({ number }) => number === text), twins = occurrences.filter((one) => one.text === text);
    const letter = twins.length > 1 ? "abcdefghij"[twins.indexOf(occurrences[place])] ?? "+" : "";
    return { label: `${text + 1}${letter}`, meaning: sentence.meaning, sentence: sentence.text };
  });
  const meanings = items.map(({ meaning }) => meaning);
  const layers = [], maps = [...main.layers, other.layers.at(-1)].map((cosines) => {
    const { points, share } = plane(cosines);
    return { cosines, share, points, alike: alike(cosines, meanings), unknown: cosines[0][0] < 0.5, same: cosines.flat().every((value) => value > 0.9999) };
  });
  const fixed = maps.pop();
  for (let number = maps.length - 1; number >= 0; number--) {
    const above = layers[0];
    layers.unshift(above ? { ...maps[number], points: aligned(maps[number].points, above.points) } : maps[number]);
  }
  const reach = Math.max(0.05, ...[...layers, fixed].flatMap(({ points }) => points.map((point) => Math.hypot(...point))));
  const low = Math.max(-1, Math.min(0.8, ...layers.flatMap(({ cosines }) => cosines.flat())));
  return { occurrences, items, layers, fixed: { ...fixed, points: aligned(fixed.points, layers[0].points) }, reach, low };
}

// For those who cannot see the map: which is nearest to which.
export function nearest(items, cosines) {
  if (items.length < 2) return "";
  return items.map((item, i) => {
    const others = cosines[i].map((value, j) => (i === j ? -2 : value)), best = others.indexOf(Math.max(...others));
    return `${item.label} is nearest to ${items[best].label}.`;
  }).join(" ");
}
