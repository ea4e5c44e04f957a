/**
 * What can go wrong.
 *
 *     BallastError
 *     ├── ApiError           the API said no; switch on `code`
 *     │   ├── InvalidRequest   400
 *     │   ├── Unauthenticated  401
 *     │   ├── Forbidden        403
 *     │   ├── NotFound         404
 *     │   ├── Conflict         409
 *     │   ├── Refused          422, a business rule
 *     │   ├── RateLimited      429, after the retries
 *     │   └── ServerError      5xx, after the retries
 *     ├── ConnectionFailed   no answer, after the retries
 *     └── InvalidSignature   a webhook delivery that is not authentic
 */

import type { components } from "./api.ts";

type Problem = components["schemas"]["Problem"];

/** The base of everything this package throws. */
export class BallastError extends Error {
  override get name(): string {
    return this.constructor.name;
  }
}

/** A problem document. `code` is stable and documented. */
export class ApiError extends BallastError {
  readonly status: number;
  readonly code: string;
  /** A sentence for people. */
  readonly detail: string;
  /** Name it when you ask for help. */
  readonly requestId: string;
  /** The fields of the request that were wrong, and how. */
  readonly fieldErrors: Problem["errors"];
  /** The members that only this problem has, such as `limit`. */
  readonly extra: Readonly<Record<string, unknown>>;

  constructor(response: Response, problem: Partial<Problem>) {
    const { type, title, status, code, detail, requestId, errors, ...extra } = problem;
    const told = detail ?? response.statusText;
    const request = requestId ?? response.headers.get("X-Request-Id") ?? "";
    super(`${code ?? "unknown"}: ${told} (request ${request})`);
    this.status = response.status;
    this.code = code ?? "unknown";
    this.detail = told;
    this.requestId = request;
    this.fieldErrors = errors ?? [];
    this.extra = extra;
  }
}

export class InvalidRequest extends ApiError {}
export class Unauthenticated extends ApiError {}
export class Forbidden extends ApiError {}
export class NotFound extends ApiError {}
export class Conflict extends ApiError {}
export class Refused extends ApiError {}
export class RateLimited extends ApiError {}
export class ServerError extends ApiError {}

/**
 * The last try got no answer. A write may have happened: send it again with the same idempotency
 * key, which is in `idempotencyKey`.
 */
export class ConnectionFailed extends BallastError {
  readonly idempotencyKey: string | null;

  constructor(request: Request, cause: unknown) {
    super(`no answer to ${request.method} ${request.url}`, { cause });
    this.idempotencyKey = request.headers.get("Idempotency-Key");
  }
}

/** Do not trust this delivery. */
export class InvalidSignature extends BallastError {}

const BY_STATUS: Record<number, typeof ApiError> = {
  400: InvalidRequest,
  401: Unauthenticated,
  403: Forbidden,
  404: NotFound,
  409: Conflict,
  422: Refused,
  429: RateLimited,
};

/** The error for an answer. Its body need not be a problem document: a proxy may have sent it. */
export function errorOf(response: Response, body: unknown): ApiError {
  const kind = BY_STATUS[response.status] ?? (response.status >= 500 ? ServerError : ApiError);
  const isDocument = typeof body === "object" && body !== null;
  return new kind(response, isDocument ? (body as Partial<Problem>) : {});
}
