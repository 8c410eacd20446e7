/**
 * A message as the platform takes it.
 * https://docs.discord.com/developers/resources/message#create-message
 */
import { createHash } from "node:crypto";
import { formatted } from "./format.ts";

/** Of what is said, and of what replaces it. */
export const saying = (text: string) => ({
  content: formatted(text),
  // Nobody is called by what a page or a stranger has talked the model into; people see the names.
  allowed_mentions: { parse: [] },
  // The platform would fetch links at once, whatever they say.
  flags: SUPPRESS_EMBEDS,
});

const SUPPRESS_EMBEDS = 1 << 2;

/** Said again with the same key within some minutes, it is said once. */
export const once = (key: string) => ({
  nonce: createHash("sha256").update(key).digest("base64url").slice(0, NONCE_CHARS),
  enforce_nonce: true,
});

const NONCE_CHARS = 25;

/** In a room full of people it shows what is answered. What is gone by then is no reason to say nothing. */
export const answering = (messageId: string | undefined) =>
  messageId === undefined ? {} : { message_reference: { message_id: messageId, fail_if_not_exists: false } };
