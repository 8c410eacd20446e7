/** One bot on one server: deliveries come in at one path, answers go out by the bot API. */
import {
  type Channel,
  type Contributions,
  type FeatureContext,
  type Json,
  type Media,
  type OutgoingMessage,
  SvcError,
} from "@svc/contract";
import { type PlatformAnswer, asCheckFailure, downloadMedia, hmacSha256Hex, platformCall, runChannel } from "@svc/kit";
import type { Config } from "./index.ts";
import { SAMPLE_ROOM, createIngress, replyTargetOf } from "./ingress.ts";
import { downloadUrl, isShareToken } from "./rich-text.ts";
import { hash, randomBytes } from "node:crypto";
import * as v from "valibot";

export function create(context: FeatureContext<Config>): Contributions {
  const { incoming, outgoing } = secretsOf(context.config);
  const api = createBotApi(context, outgoing);
  return {
    channel: { ...api, text: { maxChars: MAX_TEXT_CHARS }, media: createMedia(context) },
    ingress: [createIngress(context, incoming)],
    run: (signal) => runChannel(api.check, context.log, signal),
  };
}

/** The platform has one secret for both directions; the config has two keys for it. Blank counts as unset. */
function secretsOf({ webhook_secret: webhook, app_token: token }: Config): Secrets {
  const incoming = webhook?.trim() ? webhook : undefined;
  return { incoming, outgoing: incoming ?? token };
}

interface Secrets {
  /** Undefined: deliveries are not checked. */
  readonly incoming: string | undefined;
  readonly outgoing: string;
}

const MAX_BYTES = 26_214_400;

function createMedia({ config, fetch, clock }: FeatureContext<Config>): Media {
  return {
    maxBytes: MAX_BYTES,
    // The bot API takes text and reactions only.
    sends: [],
    async fetch({ ref, mimeType }, write, signal) {
      signal.throwIfAborted();
      if (!isShareToken(ref)) throw new SvcError("MEDIA_REFUSED", "This is no share of the server.");
      const url = downloadUrl(config.api_url, ref);
      const limits = { maxBytes: MAX_BYTES, redirects: "same-host" } as const;
      const got = await downloadMedia(fetch, { url, ...limits, write, signal, nowMs: clock.now() });
      // A share with a password, or one that only members may open, answers 200 with a page for signing in.
      if (got.mimeType === "text/html" && mimeType !== "text/html") {
        throw new SvcError("MEDIA_REFUSED", "Only files of conversations that are open to guests can be fetched.");
      }
      return got;
    },
  };
}

// What the bot says to the server: answers, and whether it is there at all.

/** The server counts code points; a text has at most as many as it has UTF-16 units. */
const MAX_TEXT_CHARS = 32_000;

type BotApi = Required<Pick<Channel, "send" | "check">>;

function createBotApi({ config, fetch, clock }: FeatureContext<Config>, secret: string): BotApi {
  const post = (room: string, body: Message, answers: readonly number[], signal: AbortSignal) => {
    const random = randomBytes(32).toString("hex");
    return platformCall(fetch, {
      url: `${config.api_url}/ocs/v2.php/apps/spreed/api/v1/bot/${room}/message`,
      headers: {
        ...OCS_HEADERS,
        "x-nextcloud-talk-bot-random": random,
        "x-nextcloud-talk-bot-signature": hmacSha256Hex(secret, [random, body.message]),
      },
      json: body,
      answers,
      signal,
      nowMs: clock.now(),
    });
  };

  return {
    async send(message, signal) {
      const room = roomOf(message);
      const body = bodyOf(message);
      const replyTo = replyTargetOf(message.replyData);
      if (replyTo !== undefined) {
        const { status } = await post(room, { ...body, replyTo }, [400], signal);
        if (status !== 400) return {};
        // The message that is answered was deleted, or is of a kind that takes no reply: the answer is still wanted.
      }
      await post(room, body, [], signal).catch((error: unknown) => {
        // Each further try would count as an attack, and after a few of them the server slows down all that we ask.
        throw room === SAMPLE_ROOM ? sampleRefused(error) : error;
      });
      // 201 carries nothing: the platform tells no id.
      return {};
    },
    async check(signal) {
      const url = `${config.api_url}/ocs/v2.php/cloud/capabilities`;
      const call = { url, headers: OCS_HEADERS, signal, nowMs: clock.now() };
      const answer = await platformCall(fetch, call).catch(asCheckFailure);
      return describe(answer, new URL(config.base_url).host);
    },
  };
}

const OCS_HEADERS = { "ocs-apirequest": "true", accept: "application/json" };

interface Message extends Record<string, Json> {
  readonly message: string;
  readonly referenceId: string;
}

function sampleRefused(error: unknown): unknown {
  if (!(error instanceof SvcError) || error.code !== "CHANNEL_UNAUTHORIZED") return error;
  const message = "The sample's conversation does not exist on the platform; the way in works.";
  return new SvcError("DELIVERY_REFUSED", message, { cause: error });
}

/** Validated, because it becomes a URL path: a room's token comes from deliveries and from the model. */
function roomOf({ conversation }: OutgoingMessage): string {
  if (/^[\w-]{1,64}$/.test(conversation.id)) return conversation.id;
  throw new SvcError("DELIVERY_REFUSED", "A conversation's id is the token of a room.");
}

/** PHP reads no lone surrogate, and a message that it reads otherwise has another signature. */
const bodyOf = ({ text, deliveryId }: OutgoingMessage): Message => ({
  message: text.toWellFormed(),
  // "Should be a random sha256". The server keeps it with the message and does not look for one that is there already.
  referenceId: hash("sha256", deliveryId),
});

const capabilities = v.object({
  ocs: v.object({
    data: v.object({
      version: v.object({ string: v.string() }),
      capabilities: v.object({
        spreed: v.optional(v.object({ features: v.array(v.string()), version: v.fallback(v.string(), "") })),
      }),
    }),
  }),
});

function describe({ json }: PlatformAnswer, host: string): string {
  const answer = v.safeParse(capabilities, json);
  if (!answer.success) {
    throw new SvcError("CHANNEL_CANNOT", "What answers at base_url is not a Nextcloud server.", {
      hint: "Set base_url in [channels_config.provider_d] to the address at which people open Nextcloud.",
    });
  }
  const { version, capabilities: has } = answer.output.ocs.data;
  if (has.spreed?.features.includes("bots-v1") !== true) {
    throw new SvcError("CHANNEL_CANNOT", "The server has no Talk with bots.", {
      hint: "Install the app Talk 17.1 or newer there, on Nextcloud 27.1 or newer.",
    });
  }
  const talk = plainVersion(has.spreed.version);
  // The platform has no call that proves a bot's secret without writing into a room.
  return `Nextcloud ${plainVersion(version.string)}, Talk ${talk} with bots, at ${host}; the secret is proven by the first message`;
}

/** A server's words are shown at a terminal. */
const plainVersion = (text: string): string => /^[\w.+ -]{1,40}$/.exec(text)?.[0] ?? "of unknown version";
