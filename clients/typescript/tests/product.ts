/** The running copy of Ballast that `./run typescript` starts, and what the tests do to it. */

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { Ballast, type BallastOptions, type FundingTransaction } from "../src/index.ts";

const REPOSITORY = fileURLToPath(new URL("../../../", import.meta.url));
const LONGEST_WAIT_MS = 120_000;

export const URL_OF_COPY = process.env.BASE_URL ?? "http://localhost:8000";

export interface Tenant {
  key: string;
  ballast: Ballast;
}

/** A sandbox tenant of its own for each story: its balance is 0 and nobody else moves it. */
export async function newTenant(name: string): Promise<Tenant> {
  const { tenantId } = await manage("create_tenant", "--name", name, "--mode", "sandbox");
  const { apiKey } = await manage("create_key", "--tenant", tenantId!, "--name", "tests");
  return { key: apiKey!, ballast: client(apiKey!) };
}

export function client(key: string, options: BallastOptions = {}): Ballast {
  return new Ballast(key, { baseUrl: URL_OF_COPY, ...options });
}

export async function linkedAccount(ballast: Ballast, linkAccountId = "acc_1"): Promise<string> {
  const source = await ballast.post("/balance/funding-sources", {
    body: {
      linkProcessorToken: "processor-sandbox-acme",
      linkAccountId,
      accountHolderName: "Acme Inc",
    },
  });
  return source.id;
}

export const SUPPLIER = {
  accountNumber: "000123456789",
  routingNumber: "021000021",
  accountHolderName: "Supplier LLC",
  accountHolderType: "business",
  accountType: "checking",
} as const;

/** Tops up and waits for the money. The sandbox's bank takes seconds. */
export async function topUp(ballast: Ballast, amount: number, from: string): Promise<FundingTransaction> {
  const { id } = await ballast.post("/balance/topup", { body: { amount, fundingSourceId: from } });
  return await until(`${id} is completed`, async () => {
    const found = await ballast.get("/funding/transactions/{funding_id}", {
      params: { path: { funding_id: id } },
    });
    return found.status === "completed" ? found : undefined;
  });
}

/** What `probe` gives at last. Throws if that takes longer than two minutes. */
export async function until<Found>(
  what: string,
  probe: () => Promise<Found | undefined> | Found | undefined,
): Promise<Found> {
  const deadline = Date.now() + LONGEST_WAIT_MS;
  while (Date.now() < deadline) {
    const found = await probe();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`waited in vain until ${what}`);
}

async function manage(...words: string[]): Promise<Record<string, string>> {
  const python = process.env.BALLAST_PYTHON ?? ".venv/bin/python";
  const command = ["manage.py", ...words, "--json"];
  const { stdout } = await promisify(execFile)(python, command, { cwd: REPOSITORY });
  return JSON.parse(stdout);
}
