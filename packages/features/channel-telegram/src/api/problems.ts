/** What an error of the platform means to us. None of its words goes any further: they may quote the token or the message. */
import { type ErrorCode, SvcError } from "@svc/contract";
import { knownRefusal } from "./known-refusals.ts";

export interface Problem {
  readonly code: number;
  /** As the platform says it; blank: it is not the platform that says it. */
  readonly description: string;
  readonly retryAfterMs?: number | undefined;
}

/**
 * CHANNEL_UNAUTHORIZED, CHANNEL_DOWN (somebody else takes the updates), DELIVERY_REFUSED (the same request would be refused
 * again), DELIVERY_FAILED (it may be taken later).
 */
export function problemOf({ code, description, retryAfterMs }: Problem): SvcError {
  const isOwn = description !== "";
  if (code === 401 || (code === 404 && isOwn)) return unauthorized();
  if (code === 403 && !isOwn) return plain("CHANNEL_UNAUTHORIZED", code);
  if (code === 409 && isOwn) return conflict(description);
  if (code === 429) {
    return new SvcError("DELIVERY_FAILED", "The platform wants us to write less for a while.", {
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
  }
  const mayPass = code >= 500 || code === 408 || code === 425;
  if (mayPass) return plain("DELIVERY_FAILED", code, retryAfterMs);
  const known = knownRefusal(description);
  return known === undefined ? plain("DELIVERY_REFUSED", code) : refused(known);
}

const plain = (code: ErrorCode, status: number, retryAfterMs?: number): SvcError =>
  new SvcError(code, `The platform answered with status ${status}.`, {
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });

const refused = ({ sentence, hint }: { readonly sentence: string; readonly hint?: string }): SvcError =>
  new SvcError("DELIVERY_REFUSED", sentence, { ...(hint !== undefined && { hint }) });

/** 404: a token that is none at all. */
const unauthorized = (): SvcError =>
  new SvcError("CHANNEL_UNAUTHORIZED", "The platform does not know the bot token.", {
    hint: "Ask @BotFather for it (/token), then: svc secrets set channels_config.telegram.bot_token",
  });

function conflict(description: string): SvcError {
  if (/webhook/i.test(description)) {
    return new SvcError("CHANNEL_DOWN", "A webhook is set for this bot, and nobody may poll beside it.", {
      hint: 'Take it away with: svc channels setup telegram. Or set mode = "webhook".',
    });
  }
  return new SvcError("CHANNEL_DOWN", "Another program asks for the messages of this bot, with the same token.", {
    hint: "Stop the other one, or make a bot of its own for each of them with @BotFather.",
  });
}
