// Sliders for a mix of layers: one a layer, together 1, and one for gamma.
import { el, freshId, percent } from "./dom.js";

// `model` has layers, weights and gamma as they were learned; `changed` is called with the mix when it moves.
export function mixer(model, changed) {
  let weights = [...model.weights], gamma = model.gamma;
  const most = Math.max(2, Math.ceil(2 * model.gamma));
  const sliders = model.layers.map((layer, place) => slider(layer === 0 ? "Layer 0, no context" : `Layer ${layer}`, 1, model.weights[place], (value) => shift(place, value)));
  const gammaSlider = slider("γ, the scale", most, model.gamma, (value) => { gamma = value; tell(); });
  gammaSlider.box.classList.add("gamma");

  // The others keep their proportions, and all stay 1 together.
  function shift(place, value) {
    const rest = weights.reduce((sum, weight, other) => (other === place ? sum : sum + weight), 0);
    weights = weights.map((weight, other) => (other === place ? value : rest > 1e-9 ? (weight / rest) * (1 - value) : (1 - value) / (weights.length - 1)));
    if (weights.length === 1) weights = [1];
    tell();
  }

  function set(newWeights, newGamma = gamma) {
    weights = [...newWeights];
    gamma = newGamma;
    tell();
  }

  function tell() {
    sliders.forEach((one, place) => one.show(weights[place], percent(weights[place])));
    gammaSlider.show(gamma, gamma.toFixed(2));
    changed({ weights, gamma });
  }

  sliders.forEach((one, place) => one.show(weights[place], percent(weights[place])));
  gammaSlider.show(gamma, gamma.toFixed(2));
  return { box: el("div", { class: "mixer" }, sliders.map((one) => one.box), gammaSlider.box), set, mix: () => ({ weights, gamma }) };
}

function slider(name, most, learned, moved) {
  const id = freshId("mix"), input = el("input", { type: "range", id, min: 0, max: most, step: 0.01, input: () => moved(+input.value) });
  const output = el("output", { for: id }), tick = el("b", { "aria-hidden": "true", title: "as it was learned" });
  const box = el("div", { class: "mix" }, el("label", { for: id }, name), el("span", { class: "rail" }, tick, input), output);
  tick.style.setProperty("--at", learned / most);
  return {
    box,
    show(value, text) {
      input.value = value;
      input.style.setProperty("--share", `${(100 * value) / most}%`);
      input.setAttribute("aria-valuetext", text);
      output.textContent = text;
    },
  };
}
