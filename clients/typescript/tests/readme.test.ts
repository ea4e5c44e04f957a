/** The programs of the README, run as they are written, with the package as it is built. */

import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { before, test } from "node:test";
import { promisify } from "node:util";
import { Webhook } from "standardwebhooks";

import { linkedAccount, newTenant, type Tenant, until, URL_OF_COPY } from "./product.ts";
import { blocks } from "./readme/blocks.ts";

const FOLDER = new URL("../examples/", import.meta.url);
const SECRET = `whsec_${Buffer.from("a secret that only tests know...").toString("base64")}`;

let acme: Tenant;

function program(name: string): string[] {
  return ["--disable-warning=ExperimentalWarning", new URL(`${name}.ts`, FOLDER).pathname];
}

async function output(name: string): Promise<string> {
  const env = { ...process.env, BALLAST_KEY: acme.key, BALLAST_URL: URL_OF_COPY };
  const { stdout } = await promisify(execFile)(process.execPath, program(name), { env });
  return stdout;
}

before(async () => {
  acme = await newTenant("Readme");
});

test("each program of the README is run here", async () => {
  assert.deepEqual([...(await blocks()).keys()], ["money-in", "money-out", "lists", "webhooks"]);
});

test("money in", async () => {
  assert.equal(await output("money-in"), "25000 cents are reserved\n");
});

test("money out", async () => {
  const said = await output("money-out");

  assert.match(said, /^insufficient_balance \{ availableBalance: \d+, shortfall: \d+ \} [0-9a-z]{20,}\n$/);
});

test("lists", async () => {
  const rows = acme.ballast.each("/funding/transactions", { params: { query: { minAmount: 100 } } });
  const known = (await Array.fromAsync(rows)).length;
  const fundingSourceId = await linkedAccount(acme.ballast, "acc_2");
  await acme.ballast.post("/balance/topup", { body: { amount: 100, fundingSourceId } });

  assert.equal(await output("lists"), `${known + 1} fundings\n`);
});

test("webhooks", async () => {
  const port = await freePort();
  const env = { ...process.env, PORT: String(port), WEBHOOK_SECRET: SECRET };
  const receiver = spawn(process.execPath, program("webhooks"), { env });
  try {
    const said = collected(receiver);
    const body = '{"id":"evt_1","type":"payment.completed","data":{"amount":250}}';
    await until("the receiver listens", () => delivered(port, body).catch(() => undefined));
    const paid = await delivered(port, body);
    const forged = await delivered(port, body, body.replace("250", "999"));

    assert.deepEqual([paid, forged], [204, 400]);
    await until("it has told both", () => (said.text.length >= 20 ? said : undefined));
    assert.equal(said.text, "250 cents\n250 cents\n");
  } finally {
    receiver.kill();
    await once(receiver, "exit");
  }
});

async function delivered(port: number, signedBody: string, body = signedBody): Promise<number> {
  const at = new Date();
  const headers = {
    "webhook-id": "evt_1",
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": new Webhook(SECRET).sign("evt_1", at, signedBody),
  };
  return (await fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers, body })).status;
}

function collected(program: ChildProcess): { text: string } {
  const said = { text: "" };
  program.stdout!.on("data", (chunk) => (said.text += chunk));
  return said;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, "close");
  return port;
}
