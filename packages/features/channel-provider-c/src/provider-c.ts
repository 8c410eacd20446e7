/** The channel: what comes in by its webhook, what goes out by the API. */
import {
  type Channel,
  type Contributions,
  type FeatureContext,
  type Ingress,
  type InboundMedia,
  SvcError,
} from "@svc/contract";
import { downloadMedia, hubChallenge, readJson, runChannel, senderGate, sentPartsIn } from "@svc/kit";
import { accountLine } from "./account.ts";
import { apiOf, authorization, json } from "./api.ts";
import type { Config } from "./index.ts";
import { addressOf, isOwnFile } from "./media-link.ts";
import { inboundOf } from "./payload.ts";
import { sampleOf } from "./sample.ts";
import { sendMessage } from "./send.ts";
import { targetOf } from "./target.ts";
import { verifier } from "./verify.ts";

export function create(context: FeatureContext<Config>): Contributions {
  const channel = channelOf(context);
  return {
    channel,
    ingress: [ingressOf(context)],
    run: (signal) => runChannel(channel.check, context.log, signal),
  };
}

function channelOf(context: FeatureContext<Config>): Channel & Required<Pick<Channel, "check">> {
  const { tenant_id: tenantId } = context.config;
  const api = apiOf(context);
  const sentParts = sentPartsIn(context);
  return {
    text: { maxChars: 4096 },
    send: (message, signal) => sendMessage({ api, sentParts, tenantId }, message, signal),
    // https://docs.wati.io/reference/conversations_sendtypingindicator; it marks what came as read, too.
    typing: {
      lastsMs: 25_000,
      async start({ id }, _messageId, signal) {
        const target = targetOf(tenantId, id);
        // 403, 404: the account has it turned off, which is no failure of ours.
        await api("/conversations/typingIndicator", { ...json({ target }), answers: [403, 404], signal });
      },
    },
    media: {
      maxBytes: MAX_BYTES,
      sends: ["image", "audio", "video", "document"],
      voiceNotes: true,
      fetch: (media, write, signal) => fetchMedia(context, media, write, signal),
    },
    check: (signal) => accountLine(api, tenantId, signal),
  };
}

const MAX_BYTES = 26_214_400;

async function fetchMedia(
  { config, fetch, clock }: FeatureContext<Config>,
  { ref }: InboundMedia,
  write: (chunk: Uint8Array) => Promise<void>,
  signal: AbortSignal,
) {
  const url = addressOf(config.api_url, ref);
  if (!isOwnFile(config.api_url, url)) {
    throw new SvcError("MEDIA_REFUSED", "The file's link does not lead to the host and port of api_url.");
  }
  const headers = authorization(config);
  const limits = { maxBytes: MAX_BYTES, redirects: "same-host" } as const;
  return downloadMedia(fetch, { url, headers, ...limits, write, signal, nowMs: clock.now() });
}

function ingressOf({ config, log }: FeatureContext<Config>): Ingress {
  const allowed = config.allowed_numbers;
  const mayWrite = senderGate({ allowed, mode: "phone", log, channel: "provider_c" });
  return {
    path: "/provider-c",
    methods: ["GET", "POST"],
    signed: config.callback_token !== undefined,
    verify: verifier(config),
    parse(request) {
      if (request.method === "GET") return { reply: hubChallenge(request) };
      const payload = readJson(request.body);
      const inbound = (Array.isArray(payload) ? payload : [payload]).flatMap((event) => inboundOf(event) ?? []);
      const allowedOnes = inbound.filter(({ sender }) => mayWrite(sender));
      return allowedOnes.length === 0 ? {} : { inbound: allowedOnes };
    },
    sample: (message) => sampleOf(config, message),
  };
}
