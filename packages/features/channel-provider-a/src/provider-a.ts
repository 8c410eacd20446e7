/** The channel in Cloud mode: deliveries come in by the webhook, everything else goes through the Graph API. */
import type { Channel, Contributions, FeatureContext } from "@svc/contract";
import { MEDIA_KINDS, runChannel, sentPartsIn } from "@svc/kit";
import { accountLine } from "./account.ts";
import { cloudConfig, type Config } from "./config.ts";
import { MAX_MEDIA_BYTES } from "./files.ts";
import { graphApi } from "./graph.ts";
import { ingressOf } from "./ingress.ts";
import { inboundMedia } from "./media.ts";
import { presenceOf } from "./presence.ts";
import { promptPoster } from "./prompts.ts";
import { messageSender, TEXT_CHARS } from "./send.ts";

export function create(context: FeatureContext<Config>): Contributions {
  const config = cloudConfig(context.config);
  // Web mode: another feature brings the channel.
  if (config === undefined) return {};
  const graph = graphApi(config, context);
  const check = (signal: AbortSignal): Promise<string> => accountLine(graph, config.phoneNumberId, signal);

  const send = messageSender(graph, config.phoneNumberId, sentPartsIn(context));
  const channel: Channel = {
    text: { maxChars: TEXT_CHARS },
    send,
    prompts: promptPoster(graph, config.phoneNumberId, send),
    ...presenceOf(graph, config.phoneNumberId),
    media: {
      maxBytes: MAX_MEDIA_BYTES,
      sends: MEDIA_KINDS,
      voiceNotes: true,
      fetch: inboundMedia(graph, config, context),
    },
    check,
  };
  return {
    channel,
    ingress: [ingressOf(config, context.log)],
    async register(signal) {
      signal.throwIfAborted();
      if (context.config.session_path === undefined) return;
      context.log.warn("phone_number_id and session_path are both set: Cloud mode is used, session_path is not");
    },
    run: (signal) => runChannel(check, context.log, signal),
  };
}
