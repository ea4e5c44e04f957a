/** Client of the Ballast API. Amounts are integer cents. */

export { Ballast, type BallastOptions } from "./client.ts";
export {
  ApiError,
  BallastError,
  Conflict,
  ConnectionFailed,
  Forbidden,
  InvalidRequest,
  InvalidSignature,
  NotFound,
  RateLimited,
  Refused,
  ServerError,
  Unauthenticated,
} from "./errors.ts";
export { verify, type WebhookEvent } from "./webhooks.ts";
/** The objects of the API by their names in openapi.yaml, such as `FundingTransaction`. */
export type * from "./api.ts";
