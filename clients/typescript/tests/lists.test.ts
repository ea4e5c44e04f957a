import assert from "node:assert/strict";
import { before, test } from "node:test";

import { NotFound, Unauthenticated } from "../src/index.ts";
import { client, newTenant, SUPPLIER, type Tenant, URL_OF_COPY } from "./product.ts";

let acme: Tenant;
let rival: Tenant;
const made: string[] = [];

before(async () => {
  [acme, rival] = await Promise.all([newTenant("Lists"), newTenant("Rival")]);
  for (let number = 1; number <= 5; number++) {
    const body = { ...SUPPLIER, accountNumber: `00012345670${number}` };
    made.push((await acme.ballast.post("/recipients", { body })).id);
  }
});

test("a list is followed over its pages, newest first, each row once", async () => {
  const asked: string[] = [];
  const watched = (request: Request, init?: RequestInit) => {
    asked.push(request.url.replace(URL_OF_COPY, "").replace(/cursor=[^&]+/, "cursor=…"));
    return fetch(request, init);
  };
  const ballast = client(acme.key, { fetch: watched });

  const found: string[] = [];
  for await (const row of ballast.each("/recipients", { params: { query: { limit: 2 } } })) {
    found.push(row.id);
  }

  assert.deepEqual(found, made.toReversed());
  const next = "/api/v1/recipients?limit=2&cursor=…";
  assert.deepEqual(asked, ["/api/v1/recipients?limit=2", next, next]);
});

test("a page is fetched only when its rows are wanted", async () => {
  let pages = 0;
  const ballast = client(acme.key, { fetch: (...sent) => (pages++, fetch(...sent)) });

  for await (const _row of ballast.each("/recipients", { params: { query: { limit: 2 } } })) break;

  assert.equal(pages, 1);
});

test("filters may repeat", async () => {
  const query = { status: ["completed", "failed"] as ("completed" | "failed")[] };

  const rows = await Array.fromAsync(acme.ballast.each("/payments", { params: { query } }));

  assert.deepEqual(rows, []);
});

test("a list can be had as CSV", async () => {
  const csv = await acme.ballast.download("/payments.csv");

  assert.match(csv.split("\r\n")[0]!, /^"?id"?,/);
});

test("another tenant's row is not there, by its id or in a list", async () => {
  const path = { recipient_id: made[0]! };

  const refusal = await rival.ballast
    .get("/recipients/{recipient_id}", { params: { path } })
    .catch((error: unknown) => error);

  assert.ok(refusal instanceof NotFound);
  assert.deepEqual(await Array.fromAsync(rival.ballast.each("/recipients")), []);
});

test("an error names the request as the server's log does", async () => {
  let header: string | null = null;
  const watched = async (request: Request, init?: RequestInit) => {
    const response = await fetch(request, init);
    header = response.headers.get("X-Request-Id");
    return response;
  };
  const ballast = client("bal_test_wrong", { fetch: watched });

  const refusal = await ballast.get("/balance/summary").catch((error: unknown) => error);

  assert.ok(refusal instanceof Unauthenticated);
  assert.deepEqual([refusal.status, refusal.code], [401, "invalid_token"]);
  assert.match(refusal.requestId, /^[0-9a-z]{20,}$/);
  assert.equal(refusal.requestId, header);
  assert.ok(refusal.message.endsWith(`(request ${refusal.requestId})`));
});
