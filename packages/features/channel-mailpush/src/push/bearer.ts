/** Who posted a push: whoever knows our secret, or Pub/Sub, which signs for a service account. */
import type { RawRequest, Verdict } from "@svc/contract";
import { equalSecrets } from "@svc/kit";
import type { Config } from "../config.ts";
import type { SigningKeys } from "./keys.ts";
import { type Expected, verifyToken } from "./signed-token.ts";

export interface BearerCheck {
  /** Neither a secret nor a signature is configured: anybody may post. */
  readonly isDemanded: boolean;
  readonly secret: string | undefined;
  verify(request: RawRequest): Verdict;
}

export function createBearerCheck(config: Config, keys: SigningKeys): BearerCheck {
  const secret = filled(config.webhook_secret);
  const expected = expectedOf(config);
  const isDemanded = secret !== undefined || expected !== undefined;
  return {
    isDemanded,
    secret,
    verify({ headers, receivedAtMs }) {
      if (!isDemanded) return { ok: true };
      const token = /^Bearer[ ]+(\S+)[ ]*$/i.exec(headers["authorization"] ?? "")?.[1];
      if (token === undefined) return refused("there is no bearer");
      if (equalSecrets(token, secret)) return { ok: true };
      if (expected === undefined) return refused("the bearer is not webhook_secret");
      const verdict = verifyToken(token, expected, keys, receivedAtMs);
      if (verdict.ok) return { ok: true };
      // 503, so that Pub/Sub comes again: the key may be there in a moment.
      return verdict.later ? { ok: false, code: "CHANNEL_DOWN", why: verdict.why } : refused(verdict.why);
    },
  };
}

function expectedOf({ push_audience, push_service_account }: Config): Expected | undefined {
  const [audience, email] = [filled(push_audience), filled(push_service_account)];
  return audience === undefined || email === undefined ? undefined : { audience, email };
}

const filled = (text: string | undefined): string | undefined => (text?.trim() ? text : undefined);

const refused = (why: string): Verdict => ({ ok: false, code: "UNAUTHORIZED", why });
