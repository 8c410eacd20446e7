/** One bot on one server: deliveries come in at one path, answers go out by the bot API. */
import type { Contributions, FeatureContext } from "@svc/contract";
import { runChannel } from "@svc/kit";
import { createBotApi, MAX_TEXT_CHARS } from "./bot-api.ts";
import type { Config } from "./index.ts";
import { createIngress } from "./ingress.ts";
import { createMedia } from "./media.ts";
import { secretsOf } from "./secrets.ts";

export function create(context: FeatureContext<Config>): Contributions {
  const { incoming, outgoing } = secretsOf(context.config);
  const api = createBotApi(context, outgoing);
  return {
    channel: { ...api, text: { maxChars: MAX_TEXT_CHARS }, media: createMedia(context) },
    ingress: [createIngress(context, incoming)],
    run: (signal) => runChannel(api.check, context.log, signal),
  };
}
