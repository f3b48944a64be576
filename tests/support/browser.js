// Looks at pages in a headless Chromium, in both themes and several widths, and prints what it saw as JSON.
// usage: node browser.js NODE_MODULES CHROMIUM SCREENSHOTS PAGE...   (a PAGE is the path of an HTML file)
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { pathToFileURL } = require("node:url");

const [modules, chromium, screenshots, ...pages] = process.argv.slice(2);
const playwright = require(path.join(modules, "playwright-core"));
const axe = fs.readFileSync(path.join(modules, "axe-core", "axe.min.js"), "utf8");
const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];
const WIDTHS = [390, 1280];
const NARROWEST = 360;
const THEMES = ["light", "dark"];

// Open everything that can be opened, so that hidden parts are looked at, too.
const open = () => document.querySelectorAll("details").forEach((each) => { each.open = true; });
// Elements that reach beyond the window, but for those in a box of their own that scrolls.
const beyond = () => [...document.querySelectorAll("body *")]
  .filter((each) => !each.closest(".scroll, .hidden, svg, .lane > *"))
  .filter((each) => each.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5)
  .map((each) => each.outerHTML.slice(0, 120));
// Labels of an axis that lie over each other.
const overlaps = () => [...document.querySelectorAll(".x, .y")].flatMap((axis) => {
  const boxes = [...axis.children].filter((each) => getComputedStyle(each).display !== "none")
    .map((each) => ({ text: each.textContent, box: each.getBoundingClientRect() }));
  return boxes.flatMap((one, at) => boxes.slice(at + 1)
    .filter((other) => one.box.left < other.box.right && other.box.left < one.box.right
      && one.box.top < other.box.bottom && other.box.top < one.box.bottom)
    .map((other) => `${one.text} and ${other.text}`));
});

async function look(browser, file, width, colorScheme) {
  const context = await browser.newContext({ viewport: { width, height: width < 500 ? 800 : 900 }, colorScheme });
  const page = await context.newPage();
  const seen = { page: file, width, theme: colorScheme, said: [], requests: [] };
  page.on("console", (message) => seen.said.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => seen.said.push(`error: ${error}`));
  page.on("dialog", (dialog) => { seen.said.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => seen.requests.push(request.url()));
  await page.goto(pathToFileURL(file).href);
  const name = `${path.basename(file, ".html")}-${width}-${colorScheme}`;
  await page.screenshot({ path: path.join(screenshots, `${name}.png`) });
  await page.screenshot({ path: path.join(screenshots, `${name}-whole.png`), fullPage: true });
  seen.text = await page.evaluate(() => document.body.innerText);
  await page.evaluate(open);
  if (width < 500) await page.setViewportSize({ width: NARROWEST, height: 800 });
  seen.overlaps = await page.evaluate(overlaps);
  seen.beyond = await page.evaluate(beyond);
  seen.scrolls = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  await page.evaluate(axe);
  const judged = await page.evaluate(() => axe.run());
  seen.violations = judged.violations.map((one) => ({
    impact: one.impact, rule: one.id, help: one.help, nodes: one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)),
  }));
  await context.close();
  return seen;
}

(async () => {
  const browser = await playwright.chromium.launch({ executablePath: chromium, args: FLAGS });
  try {
    const every = [];
    for (const file of pages) for (const width of WIDTHS) for (const theme of THEMES) every.push(await look(browser, file, width, theme));
    process.stdout.write(JSON.stringify(every));
  } finally {
    await browser.close();
  }
})().catch((error) => { console.error(error); process.exit(1); });
