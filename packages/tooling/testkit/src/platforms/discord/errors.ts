/** Errors in the form of the platform's API. https://docs.discord.com/developers/reference#error-messages */
import type { Json } from "@svc/contract";
import type { PlatformReply } from "../base.ts";

/** Thrown by the handler of a request, as its answer. */
export class DiscordRefusal extends Error {
  readonly reply: PlatformReply;

  constructor(status: number, code: number, message: string, more: Readonly<Record<string, Json>> = {}) {
    super(message);
    this.reply = { status, json: { message, code, ...more } };
  }
}

/** Wrong fields; `errors` in the shape of the body, as the platform gives it. */
export const invalidForm = (path: readonly string[], code: string, message: string): DiscordRefusal => {
  const errors = path.reduceRight<Json>((inner, key) => ({ [key]: inner }), { _errors: [{ code, message }] });
  return new DiscordRefusal(400, 50035, "Invalid Form Body", { errors });
};

/** 401 and 404 without a number of their own. */
export const unauthorized = (): DiscordRefusal => new DiscordRefusal(401, 0, "401: Unauthorized");
export const notFound = (): DiscordRefusal => new DiscordRefusal(404, 0, "404: Not Found");

const REFUSALS = {
  blocked: [403, 40333, "internal network error"],
  alreadyAcknowledged: [400, 40060, "Interaction has already been acknowledged."],
  badJson: [400, 50109, "The request body contains invalid JSON."],
  cannotMessageUser: [403, 50007, "Cannot send messages to this user"],
  emptyMessage: [400, 50006, "Cannot send an empty message"],
  foreignMessage: [403, 50005, "Cannot edit a message authored by another user"],
  hasThread: [400, 160004, "A thread has already been created for this message"],
  invalidWebhookToken: [401, 50027, "Invalid Webhook Token"],
  locked: [400, 160005, "Thread is locked"],
  missingAccess: [403, 50001, "Missing Access"],
  missingPermissions: [403, 50013, "Missing Permissions"],
  noTextChannel: [400, 50008, "Cannot send messages in a non-text channel"],
  tooLarge: [413, 40005, "Request entity too large"],
  unknownApplication: [404, 10002, "Unknown Application"],
  unknownChannel: [404, 10003, "Unknown Channel"],
  unknownEmoji: [400, 10014, "Unknown Emoji"],
  unknownInteraction: [404, 10062, "Unknown interaction"],
  unknownMessage: [404, 10008, "Unknown Message"],
  unknownUser: [404, 10013, "Unknown User"],
  unknownWebhook: [404, 10015, "Unknown Webhook"],
  wrongChannelType: [400, 50024, "Cannot execute action on this channel type"],
} as const satisfies Record<string, readonly [status: number, code: number, message: string]>;

export const refusal = (name: keyof typeof REFUSALS): DiscordRefusal => {
  const [status, code, message] = REFUSALS[name];
  return new DiscordRefusal(status, code, message);
};
