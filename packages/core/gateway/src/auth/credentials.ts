/** By what a request may prove who sends it. */
import type { IncomingHttpHeaders } from "node:http";

export type Credentials = Pick<IncomingHttpHeaders, "authorization" | "cookie"> & {
  readonly "x-svc-csrf"?: string | string[] | undefined;
};

/** A token alone: for paths that programs call, and no page does. */
export const tokenOnly = ({ authorization }: IncomingHttpHeaders): Credentials => ({ authorization });

/**
 * Of a WebSocket. A page can't give it headers of its own, so that the token, or what else comes in `X-Svc-Csrf`, stands
 * among the protocols: `bearer.<token>`, `csrf.<value>`. Of two of a kind none is taken.
 */
export function upgradeCredentials(headers: IncomingHttpHeaders): Credentials {
  const offered = (headers["sec-websocket-protocol"] ?? "").split(",").map((one) => one.trim());
  const after = (prefix: string): string | undefined => {
    const values = offered.filter((one) => one.startsWith(prefix)).map((one) => one.slice(prefix.length));
    return values.length === 0 ? undefined : values.join(" ");
  };
  const token = after("bearer.");
  return {
    authorization: headers.authorization ?? (token === undefined ? undefined : `Bearer ${token}`),
    cookie: headers.cookie,
    "x-svc-csrf": headers["x-svc-csrf"] ?? after("csrf."),
  };
}
