/** Errors in the form of the Graph API: what counts is the number in the body. */
import type { Json } from "@svc/contract";
import type { PlatformReply } from "../base.ts";

/** `details`: what the real platform would say of the field; nothing depends on the words. */
export function graphError(code: number, details: string, subcode?: number): PlatformReply {
  const [status, type] = KINDS.get(code) ?? [400, "OAuthException"];
  const error: Record<string, Json> = {
    message: `(#${code}) ${details}`,
    type,
    code,
    error_data: { messaging_product: "whatsapp", details },
    ...(subcode !== undefined && { error_subcode: subcode }),
    fbtrace_id: "Az8or2yhqkZfEZ-_4Qn_Bam",
  };
  const headers = { "www-authenticate": `OAuth "Facebook Platform" "invalid_request" "(#${code}) ${details}"` };
  return { status, headers, json: { error } };
}

/** For an id that is nobody's, or that the token may not see: the platform does not say which. */
export const noSuchObject = (): PlatformReply => graphError(100, "Object does not exist or can't be loaded.", 33);

/** Statuses that are not 400. */
const KINDS: ReadonlyMap<number, readonly [status: number, type: string]> = new Map([
  [0, [401, "OAuthException"]],
  [2, [503, "OAuthException"]],
  [3, [500, "OAuthException"]],
  [10, [403, "OAuthException"]],
  [190, [401, "OAuthException"]],
  [200, [403, "OAuthException"]],
  [368, [403, "OAuthException"]],
  [130429, [429, "OAuthException"]],
  [131000, [500, "OAuthException"]],
  [131005, [403, "OAuthException"]],
  [131016, [503, "OAuthException"]],
  [131031, [403, "OAuthException"]],
  [131057, [500, "OAuthException"]],
]);
