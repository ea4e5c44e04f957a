/** What the client does with answers that a healthy copy does not give on demand. */

import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "node:test";

import { Ballast, Conflict, ConnectionFailed, RateLimited, ServerError } from "../src/index.ts";
import { serve, type Server } from "./server.ts";

const BODY = { amount: 100, fundingSourceId: "fs_1" };

function problem(response: ServerResponse, status: number, code: string, headers = {}): void {
  const type = { "Content-Type": "application/problem+json" };
  response.writeHead(status, { ...type, ...headers });
  response.end(JSON.stringify({ code, status, detail: "Later.", requestId: "r1", errors: [] }));
}

function success(response: ServerResponse): void {
  response.writeHead(201, { "Content-Type": "application/json" }).end('{"data":{"id":"ftx_1"}}');
}

function ballast(server: Server, options = {}): Ballast {
  return new Ballast("bal_test_any", { baseUrl: server.url, backoffMs: 1, ...options });
}

for (const [status, code] of [
  [429, "rate_limited"],
  [503, "database_unavailable"],
  [500, "internal_error"],
  [409, "idempotency_in_progress"],
] as const) {
  test(`${status} ${code} is tried again with the same key and body`, async () => {
    await using server = await serve((response, received) =>
      received.length < 3 ? problem(response, status, code) : success(response),
    );

    const funding = await ballast(server).post("/balance/topup", { body: BODY });

    assert.equal(funding.id, "ftx_1");
    const sent = server.received.map(({ headers, body }) => [
      headers["idempotency-key"],
      body.toString(),
    ]);
    assert.equal(sent.length, 3);
    assert.match(String(sent[0]![0]), /^[0-9a-f-]{36}$/);
    assert.equal(sent[0]![1], JSON.stringify(BODY));
    assert.deepEqual([sent[1], sent[2]], [sent[0], sent[0]]);
  });
}

test("Retry-After is waited for", async () => {
  await using server = await serve((response, received) =>
    received.length === 1 ? problem(response, 429, "rate_limited", { "Retry-After": "1" }) : success(response),
  );

  await ballast(server).post("/balance/topup", { body: BODY });

  const [first, second] = server.received;
  assert.ok(second!.at - first!.at >= 990, `${second!.at - first!.at} ms`);
});

test("the pauses grow", async () => {
  await using server = await serve((response) => problem(response, 503, "busy"));

  await assert.rejects(ballast(server, { backoffMs: 50 }).get("/balance/summary"), ServerError);

  const at = server.received.map((each) => each.at);
  assert.equal(at.length, 4);
  assert.ok(at[1]! - at[0]! >= 39 && at[2]! - at[1]! >= 119 && at[3]! - at[2]! >= 359, `${at}`);
});

test("after the last try the refusal is thrown, with what it says", async () => {
  await using server = await serve((response) => problem(response, 429, "rate_limited"));

  const refusal = await ballast(server, { tries: 2 })
    .get("/balance/summary")
    .catch((error: unknown) => error);

  assert.ok(refusal instanceof RateLimited);
  assert.equal(refusal.name, "RateLimited");
  assert.deepEqual([refusal.code, refusal.detail, refusal.requestId], ["rate_limited", "Later.", "r1"]);
  assert.equal(server.received.length, 2);
});

test("a refusal that stays is not tried again", async () => {
  await using server = await serve((response) => problem(response, 409, "duplicate"));

  await assert.rejects(ballast(server).post("/balance/topup", { body: BODY }), Conflict);

  assert.equal(server.received.length, 1);
});

test("an answer that breaks off in the middle is no answer", async () => {
  await using server = await serve((response, received) => {
    if (received.length > 1) return success(response);
    response.writeHead(201, { "Content-Type": "application/json", "Content-Length": "99" });
    response.write('{"data":', () => response.destroy());
  });

  const funding = await ballast(server).post("/balance/topup", { body: BODY });

  assert.equal(funding.id, "ftx_1");
  assert.equal(server.received.length, 2);
});

test("a server that is silent for too long is asked again, then given up", async () => {
  await using server = await serve(() => undefined);

  const failure = await ballast(server, { tries: 2, timeoutMs: 60 })
    .post("/balance/topup", { body: BODY, idempotencyKey: "invoice-7" })
    .catch((error: unknown) => error);

  assert.ok(failure instanceof ConnectionFailed);
  assert.equal(failure.idempotencyKey, "invoice-7");
  assert.deepEqual(server.received.map(({ headers }) => headers["idempotency-key"]), ["invoice-7", "invoice-7"]);
});

test("an error page of a proxy is an error, too", async () => {
  await using server = await serve((response) => {
    response.writeHead(502, { "Content-Type": "text/html" }).end("<h1>Bad Gateway</h1>");
  });

  const failure = await ballast(server, { tries: 1 })
    .get("/balance/summary")
    .catch((error: unknown) => error);

  assert.ok(failure instanceof ServerError);
  assert.deepEqual([failure.status, failure.code, failure.detail], [502, "unknown", "Bad Gateway"]);
});

test("a caller that gives up waits no longer, and nothing is sent again", async () => {
  await using server = await serve((response) => problem(response, 503, "busy", { "Retry-After": "30" }));
  const signal = AbortSignal.timeout(100);

  await assert.rejects(ballast(server).get("/balance/summary", { signal }), { name: "AbortError" });

  assert.equal(server.received.length, 1);
});

test("a caller that gives up on a silent server is told at once", async () => {
  await using server = await serve(() => undefined);
  const caller = new AbortController();
  const call = ballast(server).get("/balance/summary", { signal: caller.signal });
  setTimeout(() => caller.abort(new Error("no longer needed")), 100);

  await assert.rejects(call, { message: "no longer needed" });

  assert.equal(server.received.length, 1);
});
