/**
 * Measures pages of a running copy with Lighthouse and writes a table. `./run lighthouse` starts it.
 *
 * Each page is measured several times, on a desk and on a phone; the median of each category counts.
 * Ends with 1 where one is below the aim, and names the audits that cost points.
 */

import { readFile, writeFile } from "node:fs/promises";
import { launch } from "chrome-launcher";
import lighthouse, { desktopConfig } from "lighthouse";

const AIM = 95;
const BASE_URL = process.env.BASE_URL;
const ROUNDS = Number(process.env.BALLAST_LIGHTHOUSE_ROUNDS ?? 3);
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
  const chrome = await launch({
    chromePath: process.env.BALLAST_CHROMIUM,
    chromeFlags: ["--headless=new", "--no-first-run", ...(process.getuid() === 0 ? ["--no-sandbox"] : [])],
  });
  try {
    const cookie = await signIn();
    const rows = [];
    for (const page of PAGES) {
      for (const form of Object.keys(FORMS)) {
        const row = await measured({ ...page, form, port: chrome.port, cookie });
        rows.push(row);
        console.log(said(row));
      }
    }
    await writeFile(RESULTS, await report(rows));
    return rows.every(({ scores }) => scores.every((score) => score >= AIM)) ? 0 : 1;
  } finally {
    chrome.kill();
  }
}

/** The cookies of the demo tenant's owner. */
async function signIn() {
  const { email, password } = JSON.parse(process.env.BALLAST_DEMO);
  const address = `${BASE_URL}/accounts/login/`;
  const page = await fetch(address);
  const token = /name="csrfmiddlewaretoken" value="([^"]+)"/.exec(await page.text())[1];
  const body = new URLSearchParams({ csrfmiddlewaretoken: token, login: email, password });
  const headers = { Cookie: cookiesOf(page), Referer: address };
  const answer = await fetch(address, { method: "POST", body, headers, redirect: "manual" });
  if (answer.status !== 302) throw new Error(`the sign-in answered ${answer.status}`);
  return cookiesOf(answer);
}

function cookiesOf(response) {
  return response.headers.getSetCookie().map((line) => line.split(";")[0]).join("; ");
}

async function measured({ name, path, isPublic, form, port, cookie }) {
  // Search engines cannot read a page behind the sign-in: their category says nothing of it.
  const categories = CATEGORIES.filter((id) => isPublic || id !== "seo");
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) {
    const options = { port, onlyCategories: categories, extraHeaders: { Cookie: cookie } };
    const { lhr } = await lighthouse(BASE_URL + path, options, FORMS[form]);
    if (lhr.runtimeError) throw new Error(`${path}: ${lhr.runtimeError.message}`);
    if (new URL(lhr.finalDisplayedUrl).pathname !== path) throw new Error(`${path} led elsewhere`);
    rounds.push(lhr);
  }
  const scores = categories.map((id) => median(rounds.map((lhr) => scoreOf(lhr, id))));
  const times = ["first-contentful-paint", "largest-contentful-paint", "total-blocking-time"];
  const took = times.map((id) => Math.round(median(rounds.map((lhr) => lhr.audits[id].numericValue))));
  return { name, path, form, scores, took, cost: costing(rounds[0], categories), version: rounds[0].lighthouseVersion };
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
engines cannot read pages behind the sign-in, so SEO is measured for the others only.

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
