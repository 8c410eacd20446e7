/** Who may post, and who may ask: the platform signs nothing, so the callback URL carries a token. */
import type { Ingress } from "@svc/contract";
import { equalSecrets } from "@svc/kit";
import type { Config } from "./index.ts";

export function verifier({
  callback_token: token,
  verify_token: verifyToken,
}: Pick<Config, "callback_token" | "verify_token">): Ingress["verify"] {
  return ({ method, query }) => {
    if (method === "GET") {
      if (verifyToken === undefined || equalSecrets(query.get("hub.verify_token") ?? undefined, verifyToken))
        return PASS;
      return { ok: false, code: "BAD_VERIFY_TOKEN", why: "hub.verify_token is not the verify_token" };
    }
    if (token === undefined || equalSecrets(query.get("token") ?? undefined, token)) return PASS;
    return { ok: false, code: "UNAUTHORIZED", why: query.has("token") ? "the token is wrong" : "there is no token" };
  };
}

const PASS = { ok: true } as const;
