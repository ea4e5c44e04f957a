/** The rules for sending a request again, unchanged: the same idempotency key on every try. */

import { setTimeout as pause } from "node:timers/promises";

import { ConnectionFailed } from "./errors.ts";

const WORTH_A_RETRY = new Set([429, 500, 502, 503, 504]);
const LONGEST_PAUSE_MS = 30_000;

export type Fetch = (request: Request, init?: RequestInit) => Promise<Response>;

export interface RetryOptions {
  fetch: Fetch;
  /** How often a request is sent at most. */
  tries: number;
  /** Before the second try, in milliseconds; three times as long before each further one. */
  backoffMs: number;
  /** How long a try may take with its whole answer, in milliseconds. */
  timeoutMs: number;
}

/** A `fetch` that tries again. The answer is complete. Throws ConnectionFailed. */
export function retrying(options: RetryOptions): (request: Request) => Promise<Response> {
  return async (request) => {
    for (let attempt = 1; ; attempt++) {
      const answer = await tried(request, options);
      const isLast = attempt >= options.tries;
      if (answer instanceof Answer && (isLast || !answer.isWorthARetry)) return answer.response;
      if (!(answer instanceof Answer) && isLast) throw new ConnectionFailed(request, answer.cause);
      const asked = answer instanceof Answer ? answer.retryAfterMs : null;
      const delay = asked ?? backoff(attempt, options.backoffMs);
      await pause(delay, undefined, { signal: request.signal });
    }
  };
}

/** An answer with its body, read to the end: a connection can be lost in the middle of it. */
class Answer {
  readonly response: Response;
  readonly #text: string;

  constructor(response: Response, text: string) {
    this.response = new Response(text || null, response);
    this.#text = text;
  }

  get isWorthARetry(): boolean {
    const { status } = this.response;
    if (status === 409) return this.#text.includes('"idempotency_in_progress"');
    return WORTH_A_RETRY.has(status);
  }

  /** What the server asked for in `Retry-After`, which is in seconds. */
  get retryAfterMs(): number | null {
    const asked = this.response.headers.get("Retry-After") ?? "";
    return /^\d+$/.test(asked) ? Math.min(Number(asked) * 1000, LONGEST_PAUSE_MS) : null;
  }
}

/** An answer, or why there was none. Throws only what the caller's own signal says. */
async function tried(request: Request, options: RetryOptions): Promise<Answer | { cause: unknown }> {
  // Not AbortSignal.any over AbortSignal.timeout: with Node 24 that never fired here.
  const attempt = new AbortController();
  const giveUp = () => attempt.abort(request.signal.reason);
  const late = new DOMException(`no answer within ${options.timeoutMs} ms`, "TimeoutError");
  const timer = setTimeout(() => attempt.abort(late), options.timeoutMs);
  request.signal.addEventListener("abort", giveUp, { once: true });
  try {
    const response = await options.fetch(request.clone(), { signal: attempt.signal });
    return new Answer(response, await response.text());
  } catch (cause) {
    if (request.signal.aborted) throw cause;
    return { cause };
  } finally {
    clearTimeout(timer);
    request.signal.removeEventListener("abort", giveUp);
  }
}

/** With jitter, so that many clients do not come back at the same moment. */
function backoff(attempt: number, firstMs: number): number {
  return firstMs * 3 ** (attempt - 1) * (0.8 + 0.4 * Math.random());
}
