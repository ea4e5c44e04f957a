/** Verifying deliveries: over the raw body, before anything else looks at it. */

import type { OperationRequestBodyContent } from "openapi-typescript-helpers";
import { Webhook } from "standardwebhooks";

import type { webhooks } from "./api.ts";
import { InvalidSignature } from "./errors.ts";

/** What a delivery says; `type` tells which `data` it has. */
export type WebhookEvent = {
  [Type in keyof webhooks]: NonNullable<OperationRequestBodyContent<webhooks[Type]["post"]>>;
}[keyof webhooks];

/** The headers of a request: of the Fetch API, or of Node's own server. */
export type DeliveryHeaders = Headers | Readonly<Record<string, string | string[] | undefined>>;

/**
 * The event of an authentic delivery. Throws InvalidSignature.
 *
 * The signature (Standard Webhooks) covers the time: a delivery older than five minutes is refused.
 * While a secret is rotated, Ballast signs with the old one and the new one, so either verifies;
 * name both in `secrets` if your processes get the new one at different moments. Deliveries come at
 * least once: remember the `id` of the event and skip the ones you know.
 */
export function verify(
  body: string | Uint8Array,
  headers: DeliveryHeaders,
  secrets: string | readonly string[],
): WebhookEvent {
  const text = typeof body === "string" ? body : decoded(body);
  const given = plain(headers);
  let problem: unknown = new Error("no secret was given");
  for (const secret of typeof secrets === "string" ? [secrets] : secrets) {
    try {
      return new Webhook(secret).verify(text, given) as WebhookEvent;
    } catch (error) {
      problem = error;
    }
  }
  throw refused(problem);
}

function decoded(body: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
  } catch (error) {
    throw refused(error);
  }
}

function plain(headers: DeliveryHeaders): Record<string, string> {
  const pairs = headers instanceof Headers ? [...headers] : Object.entries(headers);
  return Object.fromEntries(
    pairs.filter((pair): pair is [string, string] => typeof pair[1] === "string"),
  );
}

function refused(cause: unknown): InvalidSignature {
  return new InvalidSignature(cause instanceof Error ? cause.message : String(cause), { cause });
}
