import { type IngressReply, type RawRequest, SvcError } from "@svc/contract";

/**
 * What a platform that asks a callback URL before it uses it wants to read there (WebSub): its `hub.challenge`, as it is. Who
 * may ask is for `verify` to say. Throws BAD_REQUEST where there is none.
 */
export function hubChallenge({ query }: Pick<RawRequest, "query">): IngressReply {
  const body = query.get("hub.challenge") ?? "";
  if (body === "") throw new SvcError("BAD_REQUEST", "The handshake has no hub.challenge.");
  // As text: an echo that a browser takes for a page would run what anybody wrote into a link.
  return { status: 200, contentType: "text/plain; charset=utf-8", body };
}
