/**
 * The answer to a command from the platform's menu: it takes the place of the "… is thinking" there.
 * https://docs.discord.com/developers/interactions/receiving-and-responding#edit-original-interaction-response
 */
import type { OutgoingMessage } from "@svc/contract";
import { INVALID_WEBHOOK_TOKEN, UNKNOWN_MESSAGE, UNKNOWN_WEBHOOK } from "../api/error-codes.ts";
import type { Rest } from "../api/rest.ts";
import type { InteractionTokens } from "../state/interaction-tokens.ts";
import { saying } from "./message-body.ts";
import { replyDataOf } from "./reply-data.ts";
import { messageId } from "./sent-message.ts";

export interface AnsweredCommands {
  /** Resolves with the id of the message; undefined: it is no answer to one, or the command is too old for it. */
  answer(message: OutgoingMessage, signal: AbortSignal): Promise<string | undefined>;
}

export const answeredCommands = (rest: Rest, tokens: Pick<InteractionTokens, "claim">): AnsweredCommands => ({
  async answer(message, signal) {
    const { interaction } = replyDataOf(message);
    const answerable = interaction && (await tokens.claim(interaction, message.deliveryId));
    if (!answerable) return undefined;
    const path = `webhooks/${answerable.applicationId}/${answerable.token}/messages/@original`;
    const outcome = await rest.attempt({ method: "PATCH", path, json: saying(message.text) }, signal);
    if (!("error" in outcome)) return messageId(outcome.json);
    if (outcome.code !== undefined && GONE.has(outcome.code)) return undefined;
    throw outcome.error;
  },
});

/** The token has expired, or the platform gave the command up. */
const GONE: ReadonlySet<number> = new Set([UNKNOWN_MESSAGE, UNKNOWN_WEBHOOK, INVALID_WEBHOOK_TOKEN]);
