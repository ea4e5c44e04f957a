import assert from "node:assert/strict";
import { before, test } from "node:test";
import { Webhook } from "standardwebhooks";

import { InvalidSignature, verify } from "../src/index.ts";
import { linkedAccount, newTenant, type Tenant, topUp, until } from "./product.ts";
import { type Received, serve } from "./server.ts";

const SECRET = `whsec_${Buffer.from("a secret that only tests know...").toString("base64")}`;
const OTHER = `whsec_${Buffer.from("a secret of somebody else.......").toString("base64")}`;
const BODY =
  '{"id":"evt_1","type":"payment.completed","data":{"amount":100},"timestamp":"2026-11-20T12:00:00Z"}';

function signed(secret: string, body = BODY, at = new Date()): Record<string, string> {
  return {
    "webhook-id": "evt_1",
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": new Webhook(secret).sign("evt_1", at, body),
  };
}

function isAuthentic({ body, headers }: Received, secrets: string | string[]): boolean {
  try {
    verify(body, headers, secrets);
    return true;
  } catch (error) {
    if (error instanceof InvalidSignature) return false;
    throw error;
  }
}

let acme: Tenant;

before(async () => {
  acme = await newTenant("Webhooks");
});

test("what a copy of Ballast delivers is verified and typed", async () => {
  await using receiver = await serve((response) => response.writeHead(204).end());
  const { secret } = await acme.ballast.post("/webhooks", {
    body: { url: receiver.url, events: ["payment.completed"] },
  });
  const funding = await topUp(acme.ballast, 12_345, await linkedAccount(acme.ballast));
  const delivery = await until("the delivery is here", () => receiver.received[0]);

  const event = verify(delivery.body, delivery.headers, secret!);

  assert.equal(event.type, "payment.completed");
  assert.ok(event.type === "payment.completed");
  assert.deepEqual([event.data.paymentId, event.data.amount], [funding.id, 12_345]);
  assert.equal(event.id, delivery.headers["webhook-id"]);
  assert.equal(isAuthentic(delivery, OTHER), false);
  const changed = Buffer.from(delivery.body.toString().replace("12345", "12346"));
  assert.equal(isAuthentic({ ...delivery, body: changed }, secret!), false);
});

test("while a secret is rotated, the old one and the new one verify; afterwards the new one", async () => {
  await using receiver = await serve((response) => response.writeHead(204).end());
  const body = { url: receiver.url, events: ["*"] satisfies ["*"] };
  const { id, secret: first } = await acme.ballast.post("/webhooks", { body });
  const call = { params: { path: { endpoint_id: id } } };
  const delivered = async (): Promise<Received> => {
    await acme.ballast.post("/webhooks/{endpoint_id}/test", { ...call, body: {} });
    return receiver.received.at(-1)!;
  };
  const rotated = async (overlapSeconds: number): Promise<string> => {
    const path = "/webhooks/{endpoint_id}/rotate-secret";
    return (await acme.ballast.post(path, { ...call, body: { overlapSeconds } })).secret!;
  };

  const second = await rotated(86_400);
  const during = await delivered();
  const third = await rotated(0);
  const after = await delivered();

  assert.equal(new Set([first, second, third]).size, 3);
  assert.deepEqual([isAuthentic(during, first!), isAuthentic(during, second)], [true, true]);
  assert.deepEqual([isAuthentic(after, second), isAuthentic(after, third)], [false, true]);
  assert.equal(isAuthentic(after, [second, third]), true);
  assert.equal(isAuthentic(after, [first!, second]), false);
});

test("headers may come in any spelling, from Node or from the Fetch API", () => {
  const headers = signed(SECRET);
  const upper = Object.fromEntries(Object.entries(headers).map(([name, text]) => [name.toUpperCase(), text]));

  for (const given of [headers, upper, new Headers(headers), { ...headers, cookie: ["a", "b"] }]) {
    assert.equal(verify(BODY, given, SECRET).id, "evt_1");
  }
});

test("text outside ASCII is verified byte by byte", () => {
  const body = BODY.replace("evt_1", "evt_é");
  const bytes = new TextEncoder().encode(body);

  assert.equal(verify(bytes, signed(SECRET, body), SECRET).id, "evt_é");
  const broken = bytes.map((byte) => (byte === 0xc3 ? 0xff : byte));
  assert.throws(() => verify(broken, signed(SECRET, body), SECRET), InvalidSignature);
});

for (const seconds of [-310, 310]) {
  test(`a delivery that is ${seconds} seconds off is refused`, () => {
    const at = new Date(Date.now() + seconds * 1000);

    assert.throws(() => verify(BODY, signed(SECRET, BODY, at), SECRET), InvalidSignature);
  });
}

test("other bodies, secrets, headers and times are refused", () => {
  const headers = signed(SECRET);

  for (const [body, given, secrets] of [
    [`${BODY} `, headers, SECRET],
    [BODY, headers, OTHER],
    [BODY, headers, []],
    [BODY, {}, SECRET],
    [BODY, { ...headers, "webhook-id": "evt_2" }, SECRET],
    [BODY, { ...headers, "webhook-timestamp": "soon" }, SECRET],
    [BODY, { ...headers, "webhook-signature": "v1,AAAA" }, SECRET],
    [BODY, headers, "whsec_%%%"],
  ] as const) {
    assert.throws(() => verify(body, given, secrets), InvalidSignature);
  }
});
