// Elements from names, attributes and children. Data only ever becomes text nodes or attribute values, never markup.

export function el(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

export function svg(name, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function filled(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(key, value);
    else if (key.startsWith("aria-")) made.setAttribute(key, String(value));
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

// A <select> under its name; `options` are [value, text] pairs.
export function choice(name, options, chosen, changed) {
  const list = el("select", { change: () => changed(list.value) });
  list.append(...options.map(([value, text]) => el("option", { value, selected: value === chosen }, text)));
  return el("label", { class: "choice" }, el("span", {}, name), list);
}

export function button(text, pressed, attributes = {}) {
  return el("button", { type: "button", click: pressed, ...attributes }, text);
}

// A line that screen readers speak when it changes; errors are said in the same place.
export function status() {
  const line = el("p", { class: "status", role: "status" });
  return {
    line,
    say(text) { line.classList.remove("wrong"); line.textContent = text; },
    fail(error) { line.classList.add("wrong"); line.textContent = error.message; },
  };
}

let numbers = 0;
export const freshId = (name) => `${name}-${++numbers}`;

export function percent(share) { // with spaces that do not break
  if (share < 5e-5) return "0\u00a0%";
  return share < 0.001 ? "<\u00a00.1\u00a0%" : `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)}\u00a0%`;
}

// Run a little later, and only the last of many calls.
export function settled(run, milliseconds = 300) {
  let timer;
  return (...given) => { clearTimeout(timer); timer = setTimeout(() => run(...given), milliseconds); };
}
