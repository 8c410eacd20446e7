import { type IngressReply, type RawRequest, SvcError } from "@svc/contract";

/**
 * Answers a platform's check of a callback URL (WebSub): echoes `hub.challenge` unchanged. `verify` decides who may ask.
 * Throws BAD_REQUEST without a challenge.
 */
export function hubChallenge({ query }: Pick<RawRequest, "query">): IngressReply {
  const body = query.get("hub.challenge") ?? "";
  if (body === "") throw new SvcError("BAD_REQUEST", "The handshake has no hub.challenge.");
  // As plain text: a browser that reads the echo as HTML would run a script from a crafted link.
  return { status: 200, contentType: "text/plain; charset=utf-8", body };
}
