/**
 * Measures pages of a running copy with Lighthouse and writes a table. `./run lighthouse` starts it.
 *
 * Each page is measured several times, on a desk and on a phone; the median of each category counts.
 * Ends with 1 where one is below the aim, and names the audits that cost points. Addresses as
 * arguments measure only those pages, and write no table.
 */

import { readFile, writeFile } from "node:fs/promises";
import { launch } from "chrome-launcher";
import lighthouse, { desktopConfig } from "lighthouse";
import { connect } from "puppeteer-core";

const AIM = 95;
const BASE_URL = process.env.BASE_URL;
const ROUNDS = Number(process.env.BALLAST_LIGHTHOUSE_ROUNDS ?? 3);
const TRIES = 3;
const RESULTS = new URL("../LIGHTHOUSE.md", import.meta.url);
const CATEGORIES = ["performance", "accessibility", "best-practices", "seo"];
const PAGES = [
  { name: "Overview", path: "/dashboard/" },
  { name: "Transactions", path: "/dashboard/transactions" },
  { name: "API reference", path: "/docs/api", isPublic: true },
  { name: "API reference, payments", path: "/docs/api/payments", isPublic: true },
];
const FORMS = { desk: desktopConfig, phone: undefined };

async function main() {
  const pages = chosen(process.argv.slice(2));
  const chrome = await launch({
    chromePath: process.env.BALLAST_CHROMIUM,
    chromeFlags: ["--headless=new", "--no-first-run", ...(process.getuid() === 0 ? ["--no-sandbox"] : [])],
  });
  try {
    await signIn(chrome.port);
    const rows = [];
    for (const page of pages) {
      for (const form of Object.keys(FORMS)) {
        const row = await measured({ ...page, form, port: chrome.port });
        rows.push(row);
        console.log(said(row));
      }
    }
    if (pages === PAGES) await writeFile(RESULTS, await report(rows));
    return rows.every(({ scores }) => scores.every((score) => score >= AIM)) ? 0 : 1;
  } finally {
    chrome.kill();
  }
}

/** All pages, or those with these addresses. */
function chosen(paths) {
  const unknown = paths.filter((path) => !PAGES.some((page) => page.path === path));
  if (unknown.length) {
    throw new Error(`${unknown.join(", ")} is not measured; choose from ${PAGES.map(({ path }) => path).join(", ")}`);
  }
  return paths.length ? PAGES.filter(({ path }) => paths.includes(path)) : PAGES;
}

/** Signs the browser in as the demo tenant's owner. */
async function signIn(port) {
  const { email, password } = JSON.parse(process.env.BALLAST_DEMO);
  const browser = await connect({ browserURL: `http://127.0.0.1:${port}` });
  const page = await browser.newPage();
  await page.goto(`${BASE_URL}/accounts/login/`);
  await page.type("input[name=login]", email);
  await page.type("input[name=password]", password);
  await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
  if (new URL(page.url()).pathname !== "/dashboard/") throw new Error(`sign-in led to ${page.url()}`);
  await page.close();
  await browser.disconnect();
}

async function measured({ name, path, isPublic, form, port }) {
  // Search engines cannot read a page behind the sign-in: their category says nothing of it.
  const categories = CATEGORIES.filter((id) => isPublic || id !== "seo");
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) {
    // Keeps the cookies. The cache is emptied all the same.
    const options = { port, onlyCategories: categories, disableStorageReset: true };
    const lhr = await recorded(path, options, FORMS[form]);
    if (new URL(lhr.finalDisplayedUrl).pathname !== path) throw new Error(`${path} led to ${lhr.finalDisplayedUrl}`);
    rounds.push(lhr);
  }
  const scores = categories.map((id) => median(rounds.map((lhr) => scoreOf(lhr, id))));
  const times = ["first-contentful-paint", "largest-contentful-paint", "total-blocking-time"];
  const took = times.map((id) => Math.round(median(rounds.map((lhr) => lhr.audits[id].numericValue))));
  return { name, path, form, scores, took, cost: costing(rounds[0], categories), version: rounds[0].lighthouseVersion };
}

/** What Lighthouse found. It asks to be run again where the browser recorded too little of a load. */
async function recorded(path, options, form) {
  for (let number = 1; ; number++) {
    const { lhr } = await lighthouse(BASE_URL + path, options, form);
    if (!lhr.runtimeError) return lhr;
    if (number === TRIES) throw new Error(`${path}, ${TRIES} times: ${lhr.runtimeError.message}`);
    console.log(`${path}: ${lhr.runtimeError.code}, trying again`);
  }
}

function scoreOf(lhr, category) {
  return Math.round(lhr.categories[category].score * 100);
}

/** The audits that cost points, by what they are called. */
function costing(lhr, categories) {
  const weighed = categories.flatMap((id) => lhr.categories[id].auditRefs);
  return weighed
    .filter(({ id, weight }) => weight > 0 && (lhr.audits[id].score ?? 1) < 0.9)
    .map(({ id }) => [id, lhr.audits[id].displayValue].filter(Boolean).join(" "));
}

function median(numbers) {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)];
}

function said({ name, form, scores, cost }) {
  return `${name}, ${form}: ${scores.join(" / ")}${cost.length ? `  (${cost.join(", ")})` : ""}`;
}

async function report(rows) {
  const [{ version }] = rows;
  const load = (await readFile("/proc/loadavg", "utf8")).split(" ")[0];
  const day = new Date().toISOString().slice(0, 10);
  const lines = rows.map(({ name, form, scores, took }) => {
    const cells = CATEGORIES.map((_id, at) => cell(scores[at]));
    return `| ${[name, form, ...cells, ...took.map((ms) => `${ms} ms`)].join(" | ")} |`;
  });
  return `# Lighthouse

Written by \`./run lighthouse\` on ${day}: Lighthouse ${version} with its own throttling, Chromium, a new copy with its demo
tenant, median of ${ROUNDS}, load average ${load} at the end. The aim is ${AIM}; what is below it is bold. Search
engines cannot read pages behind the sign-in, so SEO is measured for the others only. Performance that is
measured while the load average is above the number of processors says little: the pages wait for their turn.

| Page | Seen on a | Performance | Accessibility | Best practices | SEO | First paint | Largest paint | Blocked |
|---|---|---:|---:|---:|---:|---:|---:|---:|
${lines.join("\n")}
`;
}

function cell(score) {
  if (score === undefined) return "–";
  return score >= AIM ? `${score}` : `**${score}**`;
}

process.exitCode = await main();
