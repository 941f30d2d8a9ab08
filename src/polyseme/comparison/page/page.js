"use strict";
// Everything is drawn from the values in #data with elements and text nodes, never with markup from a string: what
// people wrote in their data stays text.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const groups = data.groups, ways = data.ways;
  const encoders = [...new Set(ways.map((way) => way.encoder))];
  const by = (id) => document.getElementById(id);

  function el(name, attributes, ...children) {
    const svg = ["svg", "g", "path", "line", "circle", "rect", "text", "title", "polyline", "polygon"].includes(name);
    const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  const colour = (way) => `var(--c${encoders.indexOf(way.encoder) % 8})`;
  // Dashes and the form of the mark tell tunings apart.
  const dashes = (way) => (way.scratch ? "1 5" : { frozen: "", full: "7 4", gradual: "2 3" }[way.tune] || "");
  const layerChoices = [...new Set(ways.map((way) => String(way.layers)))];

  // The first choice of layers is filled, the second a ring, the third a ring with a dot; from scratch is a diamond.
  function mark(way, x, y, size = 5) {
    const choice = layerChoices.indexOf(String(way.layers)) % 3, common = { fill: choice ? "var(--card)" : colour(way), stroke: colour(way), "stroke-width": 2 };
    const shape = outline(way, x, y, size, common);
    return choice < 2 ? shape : el("g", {}, shape, el("circle", { cx: x, cy: y, r: 1.6, fill: colour(way) }));
  }
  function outline(way, x, y, size, common) {
    const s = size, t = size + 1.5;
    if (way.scratch) return el("polygon", { points: `${x},${y - t} ${x + t},${y} ${x},${y + t} ${x - t},${y}`, ...common });
    if (way.tune === "frozen") return el("circle", { cx: x, cy: y, r: size, ...common });
    const points = way.tune === "full"
      ? [[x - s, y - s], [x + s, y - s], [x + s, y + s], [x - s, y + s]]
      : [[x, y - s - 1], [x + s + 1, y + s], [x - s - 1, y + s]];
    return el("polygon", { points: points.map((point) => point.join(",")).join(" "), "stroke-linejoin": "round", ...common });
  }

  const show = (number) => (number === null || number === undefined ? "–" : number.toFixed(3));
  const whole = (number) => Math.round(number).toLocaleString("en");
  function short(number) {
    if (number >= 1e9) return `${+(number / 1e9).toPrecision(3)} G`;
    if (number >= 1e6) return `${+(number / 1e6).toPrecision(3)} M`;
    if (number >= 1e3) return `${+(number / 1e3).toPrecision(3)} K`;
    return `${+number.toPrecision(3)}`;
  }

  const tip = by("tip");
  function tipped(element, text) {
    element.classList.add("mark");
    element.setAttribute("tabindex", "0");
    element.setAttribute("role", "img");
    element.setAttribute("aria-label", text.replaceAll("\n", ", "));
    const open = () => {
      tip.textContent = text;
      tip.hidden = false;
      const box = element.getBoundingClientRect(), own = tip.getBoundingClientRect();
      const left = Math.min(Math.max(8, box.x + box.width / 2 - own.width / 2), innerWidth - own.width - 8);
      const above = box.y - own.height - 8;
      tip.style.left = `${left}px`;
      tip.style.top = `${above > 4 ? above : box.bottom + 8}px`;
    };
    const close = () => { tip.hidden = true; };
    for (const event of ["mouseenter", "focus", "click"]) element.addEventListener(event, open);
    for (const event of ["mouseleave", "blur"]) element.addEventListener(event, close);
    return element;
  }
  addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });
  addEventListener("keydown", (event) => { if (event.key === "Escape") tip.hidden = true; });

  function ticks(low, high, count) {
    const rough = (high - low) / Math.max(1, count), power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].find((factor) => factor * power >= rough) * power;
    const found = [];
    for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + step * 1e-6; at += step) found.push(+at.toFixed(10));
    return found;
  }

  function logTicks(low, high) {
    for (const factors of [[1], [1, 2, 5]]) {
      const found = [];
      for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
        for (const factor of factors) {
          const at = factor * 10 ** power;
          if (at >= low * 0.999 && at <= high * 1.001) found.push(at);
        }
      }
      if (found.length > 2) return found;
    }
    return ticks(low, high, 4);
  }

  // A frame with both axes; gives the functions from values to pixels and the group to draw in.
  function frame(box, { x, y, log, xs, name, xName, height }) {
    const width = Math.max(260, box.clientWidth - 20), tall = height || Math.min(400, Math.max(250, width * 0.5));
    const left = 46, right = 16, top = 22, bottom = 42;
    let [low, high] = x;
    if (log) { const pad = (high / low) ** 0.06 || 1; low /= Math.max(pad, 1.08); high *= Math.max(pad, 1.08); }
    else if (high === low) { low -= 0.5; high += 0.5; }
    const scale = log ? Math.log : (value) => value;
    const toX = (value) => left + ((scale(value) - scale(low)) / (scale(high) - scale(low))) * (width - left - right);
    let [bottomValue, topValue] = y;
    const room = (topValue - bottomValue) * 0.06 || 0.05;
    bottomValue -= room; topValue += room;
    const toY = (value) => top + (1 - (value - bottomValue) / (topValue - bottomValue)) * (tall - top - bottom);
    const svg = el("svg", { width, height: tall, viewBox: `0 0 ${width} ${tall}`, role: "group", "aria-label": `${name} against ${xName}` });
    for (const at of ticks(bottomValue, topValue, 5)) {
      svg.append(el("line", { class: "grid", x1: left, x2: width - right, y1: toY(at), y2: toY(at) }));
      svg.append(el("text", { x: left - 8, y: toY(at) + 4, "text-anchor": "end" }, `${+at.toFixed(4)}`));
    }
    let lastRight = -Infinity;
    for (const at of xs || (log ? logTicks(low, high) : ticks(low, high, Math.min(8, width / 70)))) {
      const label = short(at), half = label.length * 3.4 + 4;
      svg.append(el("line", { class: "axis", x1: toX(at), x2: toX(at), y1: tall - bottom, y2: tall - bottom + 4 }));
      if (toX(at) - half < lastRight) continue;
      lastRight = toX(at) + half;
      svg.append(el("text", { x: toX(at), y: tall - bottom + 18, "text-anchor": "middle" }, label));
    }
    svg.append(el("line", { class: "axis", x1: left, x2: width - right, y1: tall - bottom, y2: tall - bottom }));
    svg.append(el("text", { x: (left + width - right) / 2, y: tall - 4, "text-anchor": "middle" }, xName));
    svg.append(el("text", { x: 2, y: 11 }, name));
    const drawing = el("g", {});
    svg.append(drawing);
    box.replaceChildren(svg);
    return { toX, toY, drawing, floor: tall - bottom };
  }

  function legend(box, chart, some) {
    box.replaceChildren(...some.map((number) => {
      const way = ways[number];
      const sample = el("svg", { viewBox: "0 0 28 12", "aria-hidden": "true" },
        el("line", { x1: 0, x2: 28, y1: 6, y2: 6, stroke: colour(way), "stroke-width": 2, "stroke-dasharray": dashes(way) }), mark(way, 14, 6, 4));
      const button = el("button", { type: "button" }, sample, way.title);
      const light = (on) => { for (const one of chart.querySelectorAll("[data-way]")) one.classList.toggle("faded", on && one.dataset.way !== String(number)); };
      for (const event of ["mouseenter", "focus"]) button.addEventListener(event, () => light(true));
      for (const event of ["mouseleave", "blur"]) button.addEventListener(event, () => light(false));
      return button;
    }));
  }

  const span = (values) => [Math.min(...values), Math.max(...values)];
  const counts = [...new Set(groups.map((group) => group.labels))].sort((one, other) => other - one);
  const waysOf = (some) => [...new Set(some.map((group) => group.way))].sort((one, other) => one - other);
  const title = (group) => `${ways[group.way].title}\n${whole(group.labels)} labels`;
  const scoreLine = (group) => `${data.score} ${show(group.score)} (${show(group.low)} to ${show(group.high)})`;

  function drawLabels() {
    const box = by("c-labels"), some = waysOf(groups);
    const { toX, toY, drawing } = frame(box, {
      x: span(counts), y: span(groups.flatMap((group) => [group.low, group.high])), log: true, xs: [...counts].reverse(), name: data.score, xName: "labels",
    });
    some.forEach((number, place) => {
      const way = ways[number], shift = (place - (some.length - 1) / 2) * Math.min(4, 24 / some.length);
      const found = groups.filter((group) => group.way === number).sort((one, other) => one.labels - other.labels);
      const part = el("g", { "data-way": number });
      part.append(el("polyline", {
        points: found.map((group) => `${toX(group.labels) + shift},${toY(group.score)}`).join(" "), fill: "none", stroke: colour(way), "stroke-width": 2, "stroke-dasharray": dashes(way),
      }));
      for (const group of found) {
        const x = toX(group.labels) + shift;
        part.append(el("line", { x1: x, x2: x, y1: toY(group.low), y2: toY(group.high), stroke: colour(way), "stroke-width": 1.5, opacity: 0.55 }));
        part.append(tipped(mark(way, x, toY(group.score)), `${title(group)}\n${scoreLine(group)}`));
      }
      drawing.append(part);
    });
    legend(by("l-labels"), box, some);
  }

  for (const group of groups) group.total = group.seconds === null ? null : group.seconds + (group.encoding || 0);
  const costs = { total: "seconds of a fit and of reading the texts once", seconds: "seconds of a fit", parameters: "parameters that learned", memory: "peak memory, bytes", speed: "words a second, predicting" };
  function drawCost() {
    const box = by("c-cost"), what = by("p-cost").value, labels = +by("p-cost-labels").value;
    const some = groups.filter((group) => group.labels === labels && group[what] > 0);
    if (!some.length) { box.replaceChildren(el("p", { class: "dim" }, "This was not measured.")); by("l-cost").replaceChildren(); return; }
    const { toX, toY, drawing } = frame(box, {
      x: span(some.map((group) => group[what])), y: span(some.flatMap((group) => [group.low, group.high])), log: true, name: data.score, xName: costs[what],
    });
    for (const group of some) {
      const way = ways[group.way], x = toX(group[what]), part = el("g", { "data-way": group.way });
      part.append(el("line", { x1: x, x2: x, y1: toY(group.low), y2: toY(group.high), stroke: colour(way), "stroke-width": 1.5, opacity: 0.55 }));
      part.append(tipped(mark(way, x, toY(group.score), 6), `${title(group)}\n${scoreLine(group)}\n${short(group[what])} ${costs[what]}`));
      drawing.append(part);
    }
    legend(by("l-cost"), box, waysOf(some));
  }

  function drawMix() {
    const some = groups.filter((group) => group.mix && group.labels === +by("p-mix").value);
    by("c-mix").replaceChildren(...some.map((group) => {
      const way = ways[group.way], { weights, low, high, gamma } = group.mix;
      const most = Math.max(...high), row = 24, width = 300, left = 52, right = 54;
      const svg = el("svg", { viewBox: `0 0 ${width} ${weights.length * row + 2}`, role: "group", "aria-label": `layer weights of ${way.title}` });
      const at = (value) => left + (value / most) * (width - left - right);
      weights.forEach((weight, layer) => {
        const y = layer * row;
        svg.append(el("text", { x: left - 8, y: y + 15, "text-anchor": "end" }, `layer ${layer}`));
        const bar = el("rect", { x: left, y: y + 4, width: Math.max(1, at(weight) - left), height: row - 9, rx: 3, fill: colour(way), opacity: 0.85 });
        svg.append(tipped(bar, `layer ${layer}: ${weight.toFixed(3)}\nseeds ${low[layer].toFixed(3)} to ${high[layer].toFixed(3)}`));
        svg.append(el("line", { x1: at(low[layer]), x2: at(high[layer]), y1: y + row / 2, y2: y + row / 2, stroke: "var(--ink)", "stroke-width": 1.5, opacity: 0.6 }));
        svg.append(el("text", { x: at(high[layer]) + 7, y: y + 15 }, weight.toFixed(2)));
      });
      return el("figure", {}, el("figcaption", {}, way.title, el("span", { class: "dim" }, ` · γ ${gamma.toFixed(2)}`)), svg);
    }));
  }

  function drawCurves() {
    const box = by("c-curves"), column = +by("p-curves-what").value;
    const some = groups.filter((group) => group.labels === +by("p-curves").value && group.curves.some((curve) => curve.points.length));
    const points = some.flatMap((group) => group.curves.flatMap((curve) => curve.points)).filter((point) => point[column] !== null);
    if (!points.length) { box.replaceChildren(el("p", { class: "dim" }, "Nothing was measured along the way.")); by("l-curves").replaceChildren(); return; }
    const epochs = span(points.map((point) => point[0]));
    const xs = epochs[1] - epochs[0] < 16 ? Array.from({ length: epochs[1] - epochs[0] + 1 }, (_, place) => epochs[0] + place) : null;
    const { toX, toY, drawing } = frame(box, { x: epochs, y: span(points.map((point) => point[column])), xs, name: column === 1 ? "loss" : `held-out ${data.score}`, xName: "epochs" });
    for (const group of some) {
      const way = ways[group.way], part = el("g", { "data-way": group.way });
      for (const curve of group.curves) {
        const line = curve.points.map((point) => `${toX(point[0])},${toY(point[column])}`).join(" ");
        part.append(el("polyline", { points: line, fill: "none", stroke: colour(way), "stroke-width": 1.6, "stroke-dasharray": dashes(way), opacity: 0.8 }));
        const best = curve.points.find((point) => point[0] === curve.best) || curve.points.at(-1);
        if (best) part.append(tipped(mark(way, toX(best[0]), toY(best[column]), 4), `${title(group)}, seed ${curve.seed}\ntaken: epoch ${best[0]}, loss ${show(best[1])}, held out ${show(best[2])}`));
      }
      drawing.append(part);
    }
    legend(by("l-curves"), box, waysOf(some));
  }

  function drawConfusion() {
    const { names, counts: matrix } = groups[by("p-confusion").value].confusion;
    const head = el("tr", {}, el("th", { scope: "col" }, el("span", { class: "dim" }, "wanted \\ said")), ...names.map((name) => el("th", { scope: "col", title: name }, String(name))));
    const body = matrix.map((row, wanted) => {
      const total = row.reduce((sum, count) => sum + count, 0) || 1;
      return el("tr", {}, el("th", { scope: "row" }, String(names[wanted])), ...row.map((count, given) => {
        const hue = wanted === given ? "--good" : "--bad", share = count / total;
        const cell = el("td", { title: `${names[wanted]} said to be ${names[given]}: ${whole(count)}, ${(100 * share).toFixed(1)} %` }, count ? whole(count) : "·");
        cell.style.background = `color-mix(in srgb, var(${hue}) ${(share ** 0.7 * 48).toFixed(1)}%, transparent)`;
        return cell;
      }));
    });
    by("c-confusion").replaceChildren(el("table", { class: "matrix" }, el("thead", {}, head), el("tbody", {}, ...body)));
  }

  function drawWrong() {
    const { total, of, shown } = groups[by("p-wrong").value].wrong;
    by("n-wrong").textContent = data.task === "regress"
      ? `The ${shown.length} answers farthest from what was wanted, of ${whole(of)}; of the first seed.`
      : `${whole(total)} of ${whole(of)} are wrong${shown.length < total ? `; ${shown.length} are shown` : ""}${shown[0]?.chance ? ", the surest first" : ""}. Of the first seed.`;
    by("c-wrong").replaceChildren(...shown.map((one) => el("li", {}, ...(one.words ? tagged(one) : plain(one)))));
  }
  function plain(one) {
    const said = (kind, word, value) => el("span", { class: kind }, `${word} `, el("b", {}, value));
    const sure = one.chance ? [el("span", {}, `${(100 * one.chance).toFixed(0)} % sure`)] : [];
    return [...one.texts.map((text) => el("blockquote", {}, text)), el("p", { class: "verdict" }, said("is", "wanted", one.wanted), said("not", "said", one.given), ...sure)];
  }
  function tagged(one) {
    const words = el("p", { class: "words" });
    for (const [word, wanted, given] of one.words) {
      const note = wanted === given ? (wanted === "O" ? "" : wanted) : `${given} (is ${wanted})`;
      words.append(note ? el("ruby", wanted === given ? {} : { class: "off" }, word, el("rt", {}, note)) : word, " ");
    }
    return [words];
  }

  function choices(id, pairs, draw) {
    by(id).replaceChildren(...pairs.map(([value, text]) => el("option", { value }, text)));
    by(id).addEventListener("change", draw);
  }
  const countChoices = (some) => [...new Set(some.map((group) => group.labels))].sort((one, other) => other - one).map((count) => [count, whole(count)]);
  const rowChoices = (has) => groups.map((group, place) => [place, `${whole(group.labels)} labels · ${group.rank}. ${ways[group.way].title}`]).filter(([place]) => has(groups[place]));

  const drawers = [];
  function section(id, is, prepare, draw, again = true) {
    if (!is) return;
    by(id).hidden = false;
    prepare();
    draw();
    if (again) drawers.push(draw);
  }
  const mixed = groups.filter((group) => group.mix), curved = groups.filter((group) => group.curves.some((curve) => curve.points.length));
  section("s-labels", counts.length > 1, () => {}, drawLabels);
  section("s-cost", groups.length > 1, () => {
    choices("p-cost", Object.entries(costs), drawCost);
    choices("p-cost-labels", countChoices(groups), drawCost);
  }, drawCost);
  section("s-mix", mixed.length, () => choices("p-mix", countChoices(mixed), drawMix), drawMix, false);
  section("s-curves", curved.length, () => {
    choices("p-curves", countChoices(curved), drawCurves);
    by("p-curves-what").addEventListener("change", drawCurves);
  }, drawCurves);
  section("s-confusion", groups.some((group) => group.confusion), () => choices("p-confusion", rowChoices((group) => group.confusion), drawConfusion), drawConfusion, false);
  section("s-wrong", groups.some((group) => group.wrong.total), () => choices("p-wrong", rowChoices((group) => group.wrong.total), drawWrong), drawWrong, false);

  let before = innerWidth, waiting = 0;
  addEventListener("resize", () => {
    if (innerWidth === before) return;
    before = innerWidth;
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => drawers.forEach((draw) => draw()));
  });
})();
