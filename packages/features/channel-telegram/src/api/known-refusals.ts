/**
 * The platform's refusals in our words, those that a conversation can meet. It documents no list of them: these are what its
 * server says. https://github.com/tdlib/telegram-bot-api
 */
export interface Refusal {
  readonly sentence: string;
  readonly hint?: string;
}

/** Undefined for one that is not known. */
export const knownRefusal = (description: string): Refusal | undefined =>
  REFUSALS.find(([pattern]) => pattern.test(description))?.[1];

const says = (sentence: string, hint?: string): Refusal => ({ sentence, ...(hint !== undefined && { hint }) });

const REFUSALS: readonly (readonly [RegExp, Refusal])[] = [
  // The chat
  [
    /chat not found|PEER_ID_INVALID/i,
    says(
      "The platform knows no such chat, or the bot was never in it.",
      "The person must write to the bot first, with /start. In a group, add the bot.",
    ),
  ],
  [
    /can't initiate conversation/i,
    says(
      "This person has never written to the bot, and it may not write first.",
      "Let them open the bot, and press START.",
    ),
  ],
  [/blocked by the user/i, says("This person has blocked the bot.", "They must unblock it in their chat with it.")],
  [/user is deactivated/i, says("This person's account is gone.")],
  [/bots can't send messages to bots/i, says("The platform lets no bot write to another one.")],
  [
    /kicked from|not a member of|group chat was deleted|chat was deactivated/i,
    says("The bot is not in this group or channel any more.", "Add it again."),
  ],
  [
    /not enough rights|have no rights|CHAT_WRITE_FORBIDDEN|CHAT_RESTRICTED|CHAT_SEND_[A-Z]{1,30}_FORBIDDEN|need administrator rights/i,
    says("The bot may not write this there.", "Give it the right to, in the settings of the group."),
  ],
  [/message thread not found/i, says("There is no such topic in this group any more.")],
  [/TOPIC_CLOSED/i, says("This topic is closed.", "Open it, or make the bot an administrator of the group.")],
  [/upgraded to a supergroup/i, says("This group has become a supergroup, which the bot does not know yet.")],

  // The message
  [/message is too long|caption is too long/i, says("The text is longer than the platform takes.")],
  [/text is empty|text must be non-empty/i, says("The platform takes no text of nothing but white space.")],
  [
    /to edit not found|can't be edited|no text in the message/i,
    says("The message that was to be changed is gone, or can't be changed."),
  ],
  [/replied not found/i, says("The message that was to be answered is gone.")],

  // Files
  [/file is too big|Request Entity Too Large/i, says("The file is larger than the platform takes.")],
  [/file must be non-empty/i, says("The file is empty, and the platform takes no empty file.")],
  [/wrong file_id|invalid file_id|temporarily unavailable/i, says("The platform does not have the file any more.")],

  // The webhook
  [
    /bad webhook/i,
    says(
      "The platform does not take the address of the webhook.",
      "It wants https, on port 443, 80, 88 or 8443, and a name that the world can resolve.",
    ),
  ],
];
