/** The two optional headers of `POST /webhook` that say what a message belongs to. */
import type { IncomingHttpHeaders } from "node:http";
import * as v from "valibot";
import { errorReply, type Reply } from "../http/reply.ts";

type HeaderValue = IncomingHttpHeaders[string];

export const SESSION_ID = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9._-]{1,128}$/),
  v.description("Name of the conversation to go on with. Without it the message begins one of its own."),
);
export const IDEMPOTENCY_KEY = v.pipe(
  v.string(),
  v.regex(/^[\x21-\x7e]{1,256}$/),
  v.description("A second request with the same key is answered as a duplicate, and no turn runs."),
);

/** `X-Session-Id`. Undefined when it was not sent. */
export function sessionId(value: HeaderValue): string | undefined | Reply {
  return value === undefined || v.is(SESSION_ID, value) ? value : errorReply("BAD_SESSION_ID");
}

/** `X-Idempotency-Key`. Undefined when it was not sent. */
export function idempotencyKey(value: HeaderValue): string | undefined | Reply {
  return value === undefined || v.is(IDEMPOTENCY_KEY, value) ? value : errorReply("BAD_IDEMPOTENCY_KEY");
}
