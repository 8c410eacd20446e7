/** The two optional headers of `POST /webhook` that say what a message belongs to. */
import type { IncomingHttpHeaders } from "node:http";
import { errorReply, type Reply } from "../http/reply.ts";

type HeaderValue = IncomingHttpHeaders[string];

/** `X-Session-Id`: 1 to 128 of `[A-Za-z0-9._-]`. Undefined when it was not sent. */
export function sessionId(value: HeaderValue): string | undefined | Reply {
  if (value === undefined) return undefined;
  return typeof value === "string" && /^[A-Za-z0-9._-]{1,128}$/.test(value) ? value : errorReply("BAD_SESSION_ID");
}

/** `X-Idempotency-Key`: 1 to 256 visible ASCII characters. Undefined when it was not sent. */
export function idempotencyKey(value: HeaderValue): string | undefined | Reply {
  if (value === undefined) return undefined;
  return typeof value === "string" && /^[\x21-\x7e]{1,256}$/.test(value) ? value : errorReply("BAD_IDEMPOTENCY_KEY");
}
