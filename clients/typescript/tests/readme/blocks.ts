/** The programs in the README, by the heading that each is below. */

import { readFile } from "node:fs/promises";

const README = new URL("../../README.md", import.meta.url);
const BLOCK = /^## (.+)\n(?:(?!^## |^```ts\n)[^\n]*\n)*^```ts\n([\s\S]*?)^```$/gm;

export async function blocks(): Promise<Map<string, string>> {
  const text = await readFile(README, "utf8");
  const found = [...text.matchAll(BLOCK)].map(([, heading, code]) => [heading!, code!] as const);
  return new Map(found.map(([heading, code]) => [heading.toLowerCase().replaceAll(" ", "-"), code]));
}
