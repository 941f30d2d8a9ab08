// Drives the page in a real browser: node page.mjs ADDRESS CHROMIUM FOLDER, where FOLDER holds playwright-core (and axe-core).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [address, chromiumPath, modules] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const { chromium } = require("playwright-core");
const axe = optional("axe-core/axe.min.js");
const SECTIONS = ["meanings", "blanks", "layers", "text", "report"];
const browser = await chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox"] });

function optional(name) {
  try { return readFileSync(require.resolve(name), "utf8"); } catch { return null; }
}

// A page of which every request and every complaint is remembered, and judged when it is closed.
async function opened(options, strict = true) {
  const context = await browser.newContext({ reducedMotion: "reduce", ...options });
  const page = await context.newPage(), wrong = [];
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) wrong.push(message.text()); });
  page.on("pageerror", (error) => wrong.push(error.message));
  page.on("request", (request) => { if (!request.url().startsWith(address)) wrong.push(`a request outside: ${request.url()}`); });
  page.setDefaultTimeout(15_000);
  return { page, async close() { if (strict) assert.deepEqual(wrong, []); await context.close(); } };
}

async function go(page, section) {
  await page.goto(`${address}/#${section}`);
  await page.locator(`#${section} .tools > *`).first().waitFor();
}

const says = (page, section, text) => page.locator(`#${section} [role=status]`, { hasText: text }).first().waitFor();

const TESTS = {
  async "meanings are there at once, and the layers are walked through with the keys"({ page }) {
    await go(page, "meanings");
    await says(page, "meanings", "Layer 2");
    assert.equal(await page.locator("#meanings .map").last().locator(".mark").count(), 6);
    await page.getByRole("slider").focus();
    await page.keyboard.press("ArrowLeft");
    await says(page, "meanings", "Layer 1");
    await page.locator("#meanings .matrix").last().locator("td[tabindex='0']").focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowDown");
    assert.equal(await page.locator("#meanings .sentences li.pointed").count(), 1);
    const twice = await page.locator("#meanings .matrix").last().locator("td").allTextContents();
    assert.match(twice[8], /^[01]\.\d\d$/);
  },
  async "sentences are edited, added and removed, and another word is chosen"({ page }) {
    await go(page, "meanings");
    await says(page, "meanings", "Layer 2");
    await page.getByLabel("Edit sentence 1").press("Enter");
    await page.keyboard.type("The <img src=x> crack of a whip, crack.");
    await page.keyboard.press("Enter");
    await page.locator("#meanings .mark-label", { hasText: "1b" }).first().waitFor({ state: "attached" });
    assert.equal(await page.locator("main img").count(), 0);
    await page.getByLabel("Remove sentence 6").press("Enter");
    await page.getByText("+ Add a sentence").press("Enter");
    await page.keyboard.type("The wall was high.");
    await page.keyboard.press("Enter");
    await page.locator("#meanings .left-out", { hasText: "without" }).waitFor();
    await page.getByLabel("The word", { exact: true }).fill("wall");
    await says(page, "meanings", "places of “wall”");
    await page.getByLabel("The word", { exact: true }).fill("nowhere");
    await says(page, "meanings", "No sentence has the word");
    await page.locator("#meanings .sentence .word", { hasText: "crack" }).first().click();
    assert.equal(await page.getByLabel("The word", { exact: true }).inputValue(), "crack");
  },
  async "each section is reached by the keyboard and takes the focus"({ page }) {
    await go(page, "meanings");
    for (const section of SECTIONS) {
      await page.locator(`nav a[href='#${section}']`).focus();
      await page.keyboard.press("Enter");
      await page.locator(`#${section} .tools > *`).first().waitFor();
      if (section !== "meanings") assert.equal(await page.evaluate(() => document.activeElement.id), `h-${section}`);
      assert.equal(await page.locator("main > section:visible").count(), 1);
    }
  },
  async "blanks are filled from the left, from the right and from both sides"({ page }) {
    await go(page, "blanks");
    await says(page, "blanks", "would write");
    const elmo = page.locator("#blanks article", { hasText: "ELMo" });
    assert.deepEqual(await elmo.locator("h3").allTextContents(), ["from the left", "from the right", "both sides"]);
    assert.equal(await elmo.locator(".bars").first().locator("li").count(), 8);
    await page.locator("#blanks textarea").fill("the wall was high");
    await says(page, "blanks", "There is no blank yet");
    await page.getByText("Put a blank here").press("Enter");
    assert.equal(await page.locator("#blanks textarea").inputValue(), "the wall was [MASK]");
    await says(page, "blanks", "would write");
  },
  async "weights stay one together, and the prediction follows them"({ page }) {
    await go(page, "layers");
    await page.locator("#layers .bars li").first().waitFor();
    const shares = () => page.locator("#layers .mix:not(.gamma) input").evaluateAll((all) => all.map((one) => +one.value));
    const before = await shares(), text = await page.locator("#layers .bars").textContent();
    await page.locator("#layers input[type=range]").first().focus();
    await page.keyboard.press("End");
    await page.waitForFunction((old) => document.querySelector("#layers .bars").textContent !== old, text);
    assert.deepEqual(await shares(), [1, 0, 0]);
    await page.getByText("As learned", { exact: true }).press("Enter");
    await page.waitForFunction((old) => document.querySelector("#layers .bars").textContent === old, text);
    assert.deepEqual(await shares(), before);
  },
  async "words are shaded by what they contributed, of classes and of tags"({ page }) {
    await go(page, "text");
    await page.locator("#text textarea").fill("a great film , <b>not</b> awful");
    await page.locator("#text .given", { hasText: "great" }).waitFor();
    assert.match(await page.locator("#text .given", { hasText: "great" }).textContent(), /great[+−]?[\d.]+/);
    await page.getByLabel("Fitted model").selectOption("names");
    await page.locator("#text textarea").fill("John visited Paris");
    await page.locator("#text button.given", { hasText: "Paris" }).press("Enter");
    await page.locator("#text [role=status]", { hasText: "“Paris” is" }).waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.textContent.startsWith("Paris")), true);
  },
  async "the report is shown where it cannot reach the page"({ page }) {
    await go(page, "report");
    await page.frameLocator("iframe").locator("p", { hasText: "apart" }).waitFor();
  },
};

for (const [name, test] of Object.entries(TESTS)) {
  const session = await opened({ viewport: { width: 1280, height: 800 } });
  try { await test(session); await session.close(); } catch (error) { error.message = `${name}: ${error.message}`; throw error; }
}

// Nothing serious for axe, in light and dark; on a phone nothing beside the screen, and nothing too small for a finger.
const findings = [];
for (const [colorScheme, width] of [["light", 1280], ["dark", 1280], ["light", 390]]) {
  const { page, close } = await opened({ colorScheme, viewport: { width, height: 844 } });
  for (const section of SECTIONS) {
    await go(page, section);
    await page.waitForTimeout(600);
    const beside = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(beside <= 0, `${section} scrolls sideways at ${width}`);
    if (width < 500) assert.deepEqual(await page.evaluate(tooSmall), [], section);
    if (axe) findings.push(...(await page.evaluate(`${axe}; axe.run(document, { iframes: false }).then(${judged})`)).map((one) => `${section}, ${colorScheme}, ${width}: ${one}`));
  }
  await close();
}
assert.deepEqual(findings, []);

function tooSmall() {
  const all = [...document.querySelectorAll("a, button, select, textarea, input, summary")].filter((one) => one.checkVisibility() && !one.matches(".skip"));
  return all.filter((one) => one.getBoundingClientRect().height < 43.5 || one.getBoundingClientRect().width < 30).map((one) => one.outerHTML.slice(0, 90));
}

function judged({ violations }) {
  return violations.filter(({ impact }) => ["serious", "critical"].includes(impact)).map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => `${node.html.slice(0, 120)} ${node.any[0]?.message ?? ""}`).join(" | ")}`);
}

// A server with a token: the page asks for it, and goes on.
const { page, close } = await opened({}, false);
await page.route("**/{info,looking,senses}", (route) => {
  if (route.request().headers().authorization === "Bearer sesame") return route.continue();
  return route.fulfill({ status: 401, contentType: "application/json", body: '{"error": "a token"}' });
});
await page.goto(address);
await page.locator("#token").fill("sesame");
await page.keyboard.press("Enter");
await says(page, "meanings", "Layer 2");
await close();

await browser.close();
console.log(axe ? "the page works, and axe finds nothing serious" : "the page works; axe-core is not installed");
