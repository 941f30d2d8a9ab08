// One small box of words beside whatever is pointed at or has the focus.

const box = document.getElementById("tip");

export function tipped(element, text) {
  const open = () => {
    box.textContent = text();
    box.hidden = false;
    const at = element.getBoundingClientRect(), own = box.getBoundingClientRect();
    const left = Math.min(Math.max(8, at.x + at.width / 2 - own.width / 2), innerWidth - own.width - 8);
    const above = at.y - own.height - 8;
    box.style.left = `${left}px`;
    box.style.top = `${above > 4 ? above : at.bottom + 8}px`;
  };
  element.addEventListener("mouseenter", open);
  element.addEventListener("focus", open);
  element.addEventListener("mouseleave", close);
  element.addEventListener("blur", close);
  return element;
}

function close() { box.hidden = true; }

addEventListener("scroll", close, { passive: true, capture: true });
addEventListener("hashchange", close);
addEventListener("keydown", (event) => { if (event.key === "Escape") close(); });
