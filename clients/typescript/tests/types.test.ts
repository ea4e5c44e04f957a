/**
 * What the compiler refuses. Each `@ts-expect-error` fails the build if the line below it is right
 * after all; nothing of it is run.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { Ballast, BalanceSummary, FundingTransaction, WebhookEvent } from "../src/index.ts";

type Same<One, Other> = [One] extends [Other] ? ([Other] extends [One] ? true : false) : false;
function holds<_Claim extends true>(): void {}

async function refused(ballast: Ballast): Promise<void> {
  // @ts-expect-error: there is no such path
  await ballast.get("/balance/summaries");
  // @ts-expect-error: it cannot be posted to
  await ballast.post("/balance/summary");
  // @ts-expect-error: a top-up needs a body
  await ballast.post("/balance/topup");
  // @ts-expect-error: an amount is a number
  await ballast.post("/balance/topup", { body: { amount: "100", fundingSourceId: "fs_1" } });
  // @ts-expect-error: and needs the account it comes from
  await ballast.post("/balance/topup", { body: { amount: 100 } });
  // @ts-expect-error: the path needs its id
  await ballast.get("/payments/{payment_id}");
  // @ts-expect-error: a status that no payment has
  await ballast.get("/payments", { params: { query: { status: ["lost"] } } });
  // @ts-expect-error: a balance is no list
  ballast.each("/balance/summary");
  // @ts-expect-error: a read has no idempotency key
  await ballast.get("/balance/summary", { idempotencyKey: "invoice-7" });
  // @ts-expect-error: CSV is downloaded
  await ballast.get("/payments.csv");
}

async function known(ballast: Ballast): Promise<void> {
  const summary = await ballast.get("/balance/summary");
  holds<Same<typeof summary, BalanceSummary>>();
  holds<Same<typeof summary.availableBalance, number>>();
  const body = { amount: 100, fundingSourceId: "fs_1" };
  const funding = await ballast.post("/balance/topup", { body });
  holds<Same<typeof funding, FundingTransaction>>();
  for await (const row of ballast.each("/funding/transactions")) {
    holds<Same<typeof row, FundingTransaction>>();
  }
}

function told(event: WebhookEvent): void {
  if (event.type === "balance.low") holds<Same<typeof event.data.lowBalanceThreshold, number>>();
  // @ts-expect-error: only some events have an amount
  event.data.amount;
}

test("the compiler has judged the calls of this file", () => {
  assert.equal([refused, known, told].length, 3);
});
