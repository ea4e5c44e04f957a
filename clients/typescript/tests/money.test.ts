import assert from "node:assert/strict";
import { before, test } from "node:test";

import { Ballast, ConnectionFailed, InvalidRequest, Refused } from "../src/index.ts";
import { client, linkedAccount, newTenant, SUPPLIER, type Tenant, topUp, until } from "./product.ts";

let acme: Tenant;
let source: string;

async function available(ballast: Ballast): Promise<number> {
  return (await ballast.get("/balance/summary")).availableBalance;
}

before(async () => {
  acme = await newTenant("Money");
  source = await linkedAccount(acme.ballast);
});

test("a top-up moves the balance by exactly its amount", async () => {
  const earlier = await available(acme.ballast);

  const funding = await topUp(acme.ballast, 25_001, source);

  assert.equal(await available(acme.ballast), earlier + 25_001);
  assert.equal(funding.amount, 25_001);
  assert.equal(funding.balanceTransactionIds.length, 1);
});

test("a payment to a saved recipient leaves the balance by exactly its amount", async () => {
  const { ballast } = acme;
  await topUp(ballast, 10_000, source);
  const earlier = await ballast.get("/balance/summary");
  const { id: recipientId } = await ballast.post("/recipients", {
    body: { ...SUPPLIER, nickname: "Boxes" },
  });

  const { id } = await ballast.post("/payments", {
    body: { amount: 6_007, recipientId, method: "ach_credit", description: "Invoice 7" },
  });
  const payment = await until("the payment is completed", async () => {
    const found = await ballast.get("/payments/{payment_id}", { params: { path: { payment_id: id } } });
    return found.status === "completed" ? found : undefined;
  });

  const later = await ballast.get("/balance/summary");
  assert.equal(later.availableBalance, earlier.availableBalance - 6_007);
  assert.equal(later.lockedBalance, 0);
  assert.deepEqual([payment.recipientId, payment.amount], [recipientId, 6_007]);
});

test("a payment beyond the balance is refused and moves nothing", async () => {
  const earlier = await available(acme.ballast);
  const body = { amount: earlier + 1, recipient: SUPPLIER, method: "ach_credit" } as const;

  const refusal = await acme.ballast.post("/payments", { body }).catch((error: unknown) => error);

  assert.ok(refusal instanceof Refused);
  assert.equal(refusal.code, "insufficient_balance");
  assert.deepEqual(refusal.extra, { availableBalance: earlier, shortfall: 1 });
  assert.equal(await available(acme.ballast), earlier);
});

test("amounts are whole cents: a fraction of one is refused", async () => {
  const body = { amount: 100.5, fundingSourceId: source };

  const refusal = await acme.ballast.post("/balance/topup", { body }).catch((error: unknown) => error);

  assert.ok(refusal instanceof InvalidRequest);
  assert.deepEqual(refusal.fieldErrors.map(({ field }) => field), ["amount"]);
});

test("one idempotency key is one funding", async () => {
  const body = { amount: 307, fundingSourceId: source };
  const again = { body, idempotencyKey: "invoice-307" };

  const first = await acme.ballast.post("/balance/topup", again);
  const second = await acme.ballast.post("/balance/topup", again);

  assert.deepEqual(second, first);
  assert.deepEqual(await fundingsOf(307), [first.id]);
});

test("a write whose answer is lost is sent again with its key, and happens once", async () => {
  const keys: (string | null)[] = [];
  const losesTheFirstAnswer = async (request: Request, init?: RequestInit) => {
    keys.push(request.headers.get("Idempotency-Key"));
    const response = await fetch(request, init);
    if (keys.length === 1) throw new TypeError("the connection was lost");
    return response;
  };
  const ballast = client(acme.key, { fetch: losesTheFirstAnswer, backoffMs: 1 });

  const funding = await ballast.post("/balance/topup", { body: { amount: 409, fundingSourceId: source } });

  assert.equal(keys.length, 2);
  assert.match(keys[0]!, /^[0-9a-f-]{36}$/);
  assert.equal(keys[1], keys[0]);
  assert.deepEqual(await fundingsOf(409), [funding.id]);
});

test("a write that never gets an answer tells the key, with which it can be sent later", async () => {
  const losesAllAnswers = async (request: Request, init?: RequestInit): Promise<Response> => {
    await fetch(request, init);
    throw new TypeError("the connection was lost");
  };
  const broken = client(acme.key, { fetch: losesAllAnswers, backoffMs: 1, tries: 2 });
  const body = { amount: 511, fundingSourceId: source };

  const failure = await broken.post("/balance/topup", { body }).catch((error: unknown) => error);

  assert.ok(failure instanceof ConnectionFailed);
  const idempotencyKey = failure.idempotencyKey!;
  const funding = await acme.ballast.post("/balance/topup", { body, idempotencyKey });
  assert.deepEqual(await fundingsOf(511), [funding.id]);
});

async function fundingsOf(amount: number): Promise<string[]> {
  const query = { minAmount: amount, maxAmount: amount };
  const found: string[] = [];
  for await (const { id } of acme.ballast.each("/funding/transactions", { params: { query } })) {
    found.push(id);
  }
  return found;
}
