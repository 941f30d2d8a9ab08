// The report of a comparison, in a frame that can reach nothing of this page.
import { answer, hasToken } from "./api.js";
import { button, el, status } from "./dom.js";

export function lack(served) {
  if (served.report) return null;
  return ["No comparison is served. Make one with polyseme compare, and name its report: ", "polyseme serve runs/bert --report runs/compare/report.html"];
}

export function start(tools) {
  if (hasToken()) return tools.append(...saved());
  tools.append(
    el("p", { class: "row" }, el("a", { href: "/report", class: "button", target: "_blank", rel: "noopener" }, "Open it alone")),
    el("iframe", { src: "/report", title: "The report of the comparison", sandbox: "allow-scripts" }));
  return undefined;
}

// A frame cannot send a token along, so the report is fetched and given as a file.
function saved() {
  const said = status();
  return [el("p", {}, "Behind a token the report cannot be shown here. Save it, and open the file."), button("Save the report", save), said.line];

  async function save() {
    try {
      const response = await answer("/report");
      if (!response.ok) throw new Error("The report is not there any more.");
      const link = el("a", { href: URL.createObjectURL(await response.blob()), download: "report.html" });
      link.click();
      said.say("Saved as report.html.");
    } catch (error) {
      said.fail(error);
    }
  }
}
