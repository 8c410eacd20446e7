/** Deliveries of webhook mode, with a secret in a header. https://core.telegram.org/bots/api#setwebhook */
import { DEDUPE_MS, type Ingress, type IngressReply, type RawRequest, type Verdict } from "@svc/contract";
import { equalSecrets, readJson } from "@svc/kit";
import type { Config } from "../config.ts";
import { inboundOf } from "./album.ts";
import { sampleDelivery } from "./sample.ts";
import type { UpdateReader } from "./update.ts";

export function ingressOf(config: Pick<Config, "webhook_secret" | "allowed_users">, read: UpdateReader): Ingress {
  return {
    path: "/telegram",
    methods: ["POST"],
    signed: true,
    // The platform gives up a delivery after a day: what is older than ids are remembered was recorded by somebody.
    maxAgeMs: DEDUPE_MS,
    verify: (request) => verified(request, config.webhook_secret),
    parse({ body, receivedAtMs }) {
      const update = read(readJson(body), receivedAtMs);
      return {
        inbound: inboundOf([update]),
        ...(update.queryId !== undefined && { reply: answerTo(update.queryId) }),
      };
    },
    sample: (message) => sampleDelivery(message, config),
  };
}

function verified({ headers }: RawRequest, secret: string | undefined): Verdict {
  const given = headers["x-telegram-bot-api-secret-token"];
  if (equalSecrets(given, secret)) return { ok: true };
  const why = given === undefined ? "the secret token is missing" : "the secret token is not webhook_secret";
  return { ok: false, code: "BAD_SIGNATURE", why };
}

/** A request to the platform may be made in the answer to its delivery. https://core.telegram.org/bots/api#making-requests-when-getting-updates */
const answerTo = (queryId: string): IngressReply => ({
  status: 200,
  contentType: "application/json",
  body: JSON.stringify({ method: "answerCallbackQuery", callback_query_id: queryId }),
});
