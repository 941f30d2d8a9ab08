// A slider that goes through the layers, by hand or by itself.
import { button, el, freshId } from "./dom.js";

const STEP = 1100; // milliseconds a layer

// `chosen` is called with the number of a layer.
export function layerWalk(chosen) {
  const slider = el("input", { type: "range", id: freshId("layer"), min: 0, step: 1, input: () => chosen(+slider.value) });
  const name = el("label", { for: slider.id }), play = button("▶ Play", toggle, { class: "play" });
  let playing = null, top = 0;

  function show(layer, n_layers) {
    top = n_layers - 1;
    slider.max = top;
    slider.value = layer;
    slider.style.setProperty("--share", `${(100 * layer) / (top || 1)}%`);
    name.textContent = `Layer ${layer}, ${layer === 0 ? "no context yet" : layer === top ? "the top" : `of ${top}`}`;
    slider.setAttribute("aria-valuetext", name.textContent);
    if (layer === top) stop();
  }

  function toggle() {
    if (playing) return stop();
    if (+slider.value === top) chosen(0);
    play.textContent = "◼ Stop";
    playing = setInterval(() => chosen(Math.min(top, +slider.value + 1)), STEP);
    return undefined;
  }

  function stop() {
    clearInterval(playing);
    playing = null;
    play.textContent = "▶ Play";
  }

  return { box: el("div", { class: "row slider" }, name, slider, play), show, stop };
}
