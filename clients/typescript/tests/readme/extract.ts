/** Writes each program of the README into `examples/`, where the compiler and the tests find it. */

import { mkdir, rm, writeFile } from "node:fs/promises";

import { blocks } from "./blocks.ts";

const FOLDER = new URL("../../examples/", import.meta.url);

await rm(FOLDER, { recursive: true, force: true });
await mkdir(FOLDER);
for (const [name, code] of await blocks()) await writeFile(new URL(`${name}.ts`, FOLDER), code);
