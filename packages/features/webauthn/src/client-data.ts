/** What the browser says of a ceremony, and the authenticator signs: https://www.w3.org/TR/webauthn-3/#dictdef-collectedclientdata */
import { SvcError } from "@svc/contract";
import { parseJson } from "@svc/kit";
import * as v from "valibot";

const CLIENT_DATA = v.object({
  type: v.string(),
  challenge: v.string(),
  origin: v.string(),
  crossOrigin: v.optional(v.boolean(), false),
  topOrigin: v.optional(v.string()),
});

export type ClientData = v.InferOutput<typeof CLIENT_DATA>;

/** Throws BAD_REQUEST. */
export function clientDataOf(encoded: string): ClientData {
  const parsed = v.safeParse(CLIENT_DATA, parseJson(Buffer.from(encoded, "base64url")));
  if (parsed.success) return parsed.output;
  throw new SvcError("BAD_REQUEST", "The clientDataJSON is none.");
}

/**
 * What the library leaves open, or says in words that quote what came: a ceremony of the other kind, another page, a page
 * in a frame of somebody else's. Throws PASSKEY_REFUSED.
 */
export function checkClientData(
  { type, origin, crossOrigin, topOrigin }: ClientData,
  expected: { readonly type: "webauthn.create" | "webauthn.get"; readonly origin: string },
): void {
  if (type !== expected.type) throw refused("This is the answer of another ceremony.");
  if (origin !== expected.origin) throw refused("The passkey was used on another address than the page's.");
  if (crossOrigin || topOrigin !== undefined) throw refused("The page was inside of another site's.");
}

const refused = (message: string): SvcError => new SvcError("PASSKEY_REFUSED", message);
