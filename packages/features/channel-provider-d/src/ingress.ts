/** `POST /provider-d`: signed deliveries of one bot. */
import { randomBytes } from "node:crypto";
import { type FeatureContext, type Ingress, type RawRequest, type Verdict } from "@svc/contract";
import { hmacSha256Hex, readJson, senderGate, verifyHmacSha256 } from "@svc/kit";
import { inboundOf } from "./inbound.ts";
import type { Config } from "./index.ts";
import { sampleActivity } from "./sample.ts";

export function createIngress({ config, log }: FeatureContext<Config>, secret: string | undefined): Ingress {
  const mayWrite = senderGate({ allowed: config.allowed_users, mode: "exact", log, channel: CHANNEL });
  return {
    path: "/provider-d",
    methods: ["POST"],
    signed: secret !== undefined,
    verify: (request) => (secret === undefined ? { ok: true } : verify(secret, request)),
    parse({ body }) {
      const message = inboundOf(readJson(body), {
        channel: CHANNEL,
        baseUrl: config.base_url,
        botName: config.bot_name,
      });
      return message !== undefined && mayWrite(message.sender) ? { inbound: [message] } : {};
    },
    sample(message) {
      const from = message.from ?? config.allowed_users.find((user) => user !== "*") ?? "sample-user";
      const body = Buffer.from(JSON.stringify(sampleActivity({ ...message, from })));
      const random = randomBytes(32).toString("hex");
      const signature = secret === undefined ? {} : signed(random, hmacSha256Hex(secret, [random, body]));
      return { method: "POST", query: "", headers: { "content-type": "application/json", ...signature }, body };
    },
  };
}

const CHANNEL = "provider_d";

/** The specification's names, then the platform's own. */
const HEADERS = ["x-provider-d", "x-nextcloud-talk"] as const;

function verify(secret: string, { headers, body }: RawRequest): Verdict {
  const prefix = HEADERS.find((name) => headers[`${name}-signature`] !== undefined);
  if (prefix === undefined) return { ok: false, code: "BAD_SIGNATURE", why: "there is no signature header" };
  const random = headers[`${prefix}-random`]?.trim();
  // Without it a signature over the body alone would be good for ever.
  if (!random) return { ok: false, code: "BAD_SIGNATURE", why: "there is no random header, or it is blank" };
  const header = headers[`${prefix}-signature`]?.trim();
  if (verifyHmacSha256({ secret, parts: [random, body], header, prefix: "optional" }))
    return { ok: true, once: random };
  return { ok: false, code: "BAD_SIGNATURE", why: "the signature is not of this body and secret" };
}

const signed = (random: string, signature: string) => ({
  "x-nextcloud-talk-random": random,
  "x-nextcloud-talk-signature": signature,
});
