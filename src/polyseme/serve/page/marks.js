// The form and colour of each meaning: forms tell them apart for those who see no colours.
import { svg } from "./dom.js";

export const MEANINGS = ["A", "B", "C", "D"];
const SIGNS = { A: "●", B: "▲", C: "■", D: "◆" };

export const signOf = (meaning) => SIGNS[meaning];

export function mark(meaning, label) {
  const text = svg("text", { class: "mark-label", y: meaning === "B" ? 8 : 5, "text-anchor": "middle" }, label);
  return svg("g", { class: `mark meaning-${meaning}` }, shape(meaning), text);
}

function shape(meaning) {
  switch (meaning) {
    case "A": return svg("circle", { r: 15 });
    case "B": return svg("path", { d: "M0-19 19 15H-19z", "stroke-linejoin": "round" });
    case "C": return svg("rect", { x: -14, y: -14, width: 28, height: 28, rx: 3 });
    default: return svg("path", { d: "M0-19 19 0 0 19-19 0z", "stroke-linejoin": "round" });
  }
}

// A mark as a little picture of its own, beside text.
export function badge(meaning, label) {
  return svg("svg", { class: "badge", viewBox: "-21 -21 42 42", width: 34, height: 34, "aria-hidden": "true" }, mark(meaning, label));
}
