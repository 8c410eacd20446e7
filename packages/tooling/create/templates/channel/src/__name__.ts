/** The channel: what goes out by the platform's API. When to try again is the delivery's business, and in the error's code. */
import type { Contributions, FeatureContext } from "@svc/contract";
import { asCheckFailure, platformCall, type PlatformCall, runChannel, senderGate } from "@svc/kit";
import * as v from "valibot";
import { ingressOf } from "./delivery.ts";
import type { Config } from "./index.ts";

/** The platform's own limit; longer answers come in parts. */
const MAX_CHARS = 4000;

export function create({ config, clock, fetch, log }: FeatureContext<Config>): Contributions {
  const call = (path: string, { headers, ...more }: Omit<PlatformCall, "url" | "nowMs">) =>
    platformCall(fetch, {
      url: `${config.api_url}${path}`,
      headers: { authorization: `Bearer ${config.token}`, ...headers },
      nowMs: clock.now(),
      ...more,
    });

  const check = async (signal: AbortSignal): Promise<string> => {
    const { json } = await call("/me", { signal }).catch(asCheckFailure);
    return v.is(ACCOUNT, json) ? json.name : "an account without a name";
  };

  return {
    channel: {
      text: { maxChars: MAX_CHARS },
      check,
      async send({ conversation, text, deliveryId }, signal) {
        const message = { room: conversation.id, text };
        const headers = { "idempotency-key": deliveryId };
        const { json } = await call("/messages", { json: message, headers, signal });
        // An answer without a usable id is an acceptance all the same.
        return v.is(TAKEN, json) ? { platformId: json.id } : {};
      },
    },
    ingress: [
      ingressOf(config, senderGate({ allowed: config.allowed_users, mode: "exact", log, channel: "__channel__" })),
    ],
    run: (signal) => runChannel(check, log, signal),
  };
}

const ACCOUNT = v.object({ name: v.pipe(v.string(), v.regex(/^\P{Cc}*$/u), v.regex(/\S/)) });
const TAKEN = v.object({ id: v.pipe(v.string(), v.nonEmpty()) });
