/**
 * Numbers of the platform's errors that mean more than their status.
 * https://docs.discord.com/developers/topics/opcodes-and-status-codes#json
 */
export interface PlatformError {
  readonly means: "CHANNEL_UNAUTHORIZED" | "DELIVERY_REFUSED" | "DELIVERY_FAILED";
  readonly sentence: string;
  readonly hint?: string;
}

/** Those that the code looks at itself. */
export const UNKNOWN_MESSAGE = 10008;
export const UNKNOWN_WEBHOOK = 10015;
export const INVALID_WEBHOOK_TOKEN = 50027;
export const HAS_A_THREAD = 160004;

const refused = (sentence: string, hint?: string): PlatformError => ({
  means: "DELIVERY_REFUSED",
  sentence,
  ...(hint !== undefined && { hint }),
});

const INVITE = "Invite the bot again with the URL that `svc channels setup discord` prints, or change its role.";

export const ERROR_CODES: ReadonlyMap<number, PlatformError> = new Map([
  // What it is addressed to
  [10003, refused("There is no such channel, or the bot can't see it", "Is it the id of a channel?")],
  [UNKNOWN_MESSAGE, refused("There is no such message in that channel")],
  [10013, refused("There is no such user", "Is it the id of a user?")],
  [10062, refused("The command or button was answered too late")],
  [50001, refused("The bot may not see that channel", INVITE)],
  [
    50007,
    refused(
      "This person takes no direct messages of the bot",
      "They must share a server with it and allow messages of its members, or write first.",
    ),
  ],
  [50008, refused("This is no channel that messages can be written to")],
  [50024, refused("This can't be done in a channel of this kind", "In a forum, name one of its posts.")],
  [50083, refused("The thread is archived")],
  [160005, refused("The thread is locked")],

  // What it may
  [50013, refused("The bot lacks a permission in that channel", INVITE)],
  [160002, refused("The bot may not answer there, as it can't read the history", INVITE)],
  [20028, { means: "DELIVERY_FAILED", sentence: "The channel is written to faster than it may be" }],
  [40004, refused("The platform has turned off sending for this bot")],
  [40062, { means: "DELIVERY_FAILED", sentence: "The platform limits how often this may be used" }],

  // What it says
  [30046, refused("A message that is older than an hour was edited too often")],
  [40005, refused("The file is larger than the platform takes there", "10 MiB without boosts of the server.")],
  [40094, refused("The command was answered too often")],
  [50005, refused("The message is of somebody else")],
  [50006, refused("The message is empty")],
  [50035, refused("The platform does not take a message of this form")],
  [200000, refused("The server's AutoMod blocks the message")],
  [240000, refused("The message has a link that the platform blocks")],
]);
