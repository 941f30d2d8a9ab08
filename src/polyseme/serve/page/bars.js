// Names with bars of their shares, the text of which says the same.
import { el, percent } from "./dom.js";

// `rows` are {name, share, strong?, before?}; `before` is a share to compare with, shown as a tick.
export function bars(rows, { most = 1 } = {}) {
  return el("ol", { class: "bars" }, rows.map((row) => {
    const fill = el("i"), track = el("span", { class: "track", "aria-hidden": "true" }, fill);
    fill.style.width = `${Math.min(100, (100 * row.share) / most)}%`;
    if (row.before !== undefined) {
      const tick = el("b");
      tick.style.left = `${Math.min(100, (100 * row.before) / most)}%`;
      track.append(tick);
    }
    return el("li", { class: row.strong ? "strong" : "" }, el("span", { class: "name" }, row.name), track, el("span", { class: "number" }, percent(row.share)));
  }));
}
