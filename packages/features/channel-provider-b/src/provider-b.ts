/** The channel: what comes in by its webhook, what goes out by the partner API. */
import { type Channel, type Contributions, type FeatureContext, type Ingress } from "@svc/contract";
import { readJson, runChannel } from "@svc/kit";
import { accountLine } from "./account.ts";
import { apiOf } from "./api.ts";
import { readMarks, typing } from "./presence.ts";
import { handleGate } from "./handle.ts";
import type { Config } from "./index.ts";
import { MAX_BYTES, mediaFetcher, uploader } from "./media.ts";
import { inboundOf } from "./payload.ts";
import { sampleOf } from "./sample.ts";
import { sendMessage } from "./send.ts";
import { verifier } from "./signature.ts";

export function create(context: FeatureContext<Config>): Contributions {
  const channel = channelOf(context);
  return {
    channel,
    ingress: [ingressOf(context)],
    run: (signal) => runChannel(channel.check, context.log, signal),
  };
}

function channelOf(context: FeatureContext<Config>): Channel & Required<Pick<Channel, "check">> {
  const { from_phone: fromPhone } = context.config;
  const api = apiOf(context);
  const upload = uploader(api, context);
  return {
    // https://docs.linqapp.com/getting-started/key-concepts/: of one text part.
    text: { maxChars: 10_000 },
    send: (message, signal) => sendMessage({ api, upload, fromPhone }, message, signal),
    typing: typing(api),
    readMarks: readMarks(api),
    media: { maxBytes: MAX_BYTES, sends: ["image", "audio", "video", "document"], fetch: mediaFetcher(context) },
    check: (signal) => accountLine(api, fromPhone, signal),
  };
}

function ingressOf({ config, log }: FeatureContext<Config>): Ingress {
  const { signing_secret: secret } = config;
  const mayWrite = handleGate(config.allowed_senders, log);
  return {
    path: "/provider-b",
    methods: ["POST"],
    signed: secret !== undefined,
    verify: secret === undefined ? () => ({ ok: true }) : verifier(secret),
    parse({ body }) {
      const inbound = inboundOf(readJson(body));
      return inbound !== undefined && mayWrite(inbound.sender) ? { inbound: [inbound] } : {};
    },
    sample: (message) => sampleOf(config, message),
  };
}
