/**
 * Why the platform ends a connection for good. After all other codes one may connect again.
 * https://docs.discord.com/developers/topics/opcodes-and-status-codes#gateway-gateway-close-event-codes
 */
import { SvcError } from "@svc/contract";
import { PORTAL } from "../names.ts";

/** FEATURE_FAILED: the channel stays off until its config changes. Undefined: it may be tried again. */
export function finalError(closeCode: number): SvcError | undefined {
  const [message, hint] = FINAL.get(closeCode) ?? [];
  return message === undefined
    ? undefined
    : new SvcError("FEATURE_FAILED", `${message} (close code ${closeCode}).`, { ...(hint !== undefined && { hint }) });
}

const FINAL: ReadonlyMap<number, readonly [message: string, hint?: string]> = new Map([
  [
    4004,
    [
      "The platform refuses bot_token",
      "Set it to the token of the bot: in the developer portal under Bot, Reset Token.",
    ],
  ],
  [4010, ["The platform refuses this part of the bot's connections"]],
  [
    4011,
    [
      "The bot is on more servers than one connection may serve",
      "That are 2500. Take it off some of them: connections can't be shared out here.",
    ],
  ],
  [4012, ["The platform has given up this version of its gateway", "Is there a newer version of svc?"]],
  [4013, ["The platform does not know what the connection asks for", "Is there a newer version of svc?"]],
  [
    4014,
    [
      "The bot may not read messages: its Message Content Intent is off",
      `Turn on "Message Content Intent" at ${PORTAL}, under Bot, Privileged Gateway Intents; then: svc reload`,
    ],
  ],
]);
