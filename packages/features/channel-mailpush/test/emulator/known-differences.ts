/**
 * Where the emulator and our fake answer otherwise, and which of them answers as the platform's documents say. What is not
 * listed here must be the same in both; what is listed and is the same by now must go.
 */
import type { Difference } from "./compare.ts";

export interface KnownDifference {
  readonly asked: RegExp;
  readonly at: RegExp;
  /** `either`: the documents leave it open, and the channel reads none of it. */
  readonly right: "ours" | "either";
  readonly why: string;
}

const REFERENCE = "https://developers.google.com/workspace/gmail/api/reference/rest/v1";

export const KNOWN: readonly KnownDifference[] = [
  {
    asked: /^profile$/,
    at: /./,
    right: "ours",
    why: `The emulator has no users.getProfile. ${REFERENCE}/users/getProfile`,
  },
  {
    asked: /^with another token$/,
    at: /./,
    right: "ours",
    why: "The emulator lets every token in as its first user; the platform answers 401.",
  },
  {
    asked: /^labels$/,
    at: /^labels\.[\w ]+\.(messages|threads)(Total|Unread)$/,
    right: "ours",
    why: `A list of labels has no counts: users.labels.get has them. ${REFERENCE}/users.labels/list`,
  },
  {
    asked: /^labels$/,
    at: /^labels\.[A-Z_]+\.(message|label)ListVisibility$/,
    right: "ours",
    why: "As mailboxes answer: built-in labels that people see say nothing of it, the others are hidden.",
  },
  {
    asked: /^labels$/,
    at: /^labels\.CHAT\./,
    right: "ours",
    why: "The emulator lacks the label CHAT. https://developers.google.com/workspace/gmail/api/guides/labels",
  },
  {
    asked: /^watch$/,
    at: /^expiration$/,
    right: "ours",
    why: "A watch ends after seven days. https://developers.google.com/workspace/gmail/api/guides/push",
  },
  {
    asked: /^(history|messages|list)\b/,
    at: /^(history|messages)$/,
    right: "ours",
    why: "The platform leaves out a list with nothing in it, as all of its JSON APIs do.",
  },
  {
    asked: /^list by Message-ID$/,
    at: /^(messages|resultSizeEstimate)/,
    right: "ours",
    why: "The emulator finds nothing by rfc822msgid: it takes the colon for a part of the id.",
  },
  {
    asked: /^(import|insert|insert into a thread|modify|modify with nothing to change|send)$/,
    at: /^(snippet|historyId|internalDate|sizeEstimate|payload\..+)$/,
    right: "either",
    why: `"An instance of Message": the platform fills in ids and labels only. ${REFERENCE}/users.messages/insert`,
  },
  {
    asked: /^(history|before)\b/,
    at: /^history\[\]\.\w+\[\](\.message)?\.(historyId|internalDate)$/,
    right: "ours",
    why: `Messages of a history have id and threadId, and labels where something happened to them. ${REFERENCE}/users.history/list`,
  },
  {
    asked: /^(history|before)\b/,
    at: /^history\[\]\.messages\[\]\.labelIds\[\]$/,
    right: "ours",
    why: `The same: "will typically only have id and threadId fields populated". ${REFERENCE}/users.history/list`,
  },
  {
    asked: /^before the end$/,
    at: /^history\[\]\.messagesAdded\[\]\.message\.labelIds\[\]$/,
    right: "either",
    why: "Labels of then or of now: the documents do not say.",
  },
  {
    asked: /^history from nowhere$/,
    at: /./,
    right: "ours",
    why: `A place that is not kept any more is 404; the emulator keeps all of them. ${REFERENCE}/users.history/list`,
  },
  {
    asked: /^get\b/,
    at: /^payload\.headers\.(MIME-Version|Content-Type)$/,
    right: "ours",
    why: `The headers of the mail are all of them; the emulator knows ten. ${REFERENCE}/users.messages#Message.MessagePart`,
  },
  {
    asked: /^get with a file$/,
    at: /^payload\.parts\[\](\.parts\[\])?\.headers/,
    right: "ours",
    why: `Every part has its own headers; the emulator's texts have none. ${REFERENCE}/users.messages#Message.MessagePart`,
  },
  {
    asked: /^(get metadata|thread)$/,
    at: /^(messages\[\]\.)?payload\.(partId|filename|body\.size)$/,
    right: "ours",
    why: `"Returns only email message ID, labels, and email headers." ${REFERENCE}/Format`,
  },
  {
    asked: /^file$/,
    at: /^attachmentId$/,
    right: "ours",
    why: `The id is there where the data is not. ${REFERENCE}/users.messages.attachments`,
  },
  {
    asked: /^thread\b/,
    at: /^snippet$/,
    right: "either",
    why: `A field of Thread; the platform fills it in in users.threads.list. ${REFERENCE}/users.threads`,
  },
  {
    asked: /^(get what was sent|thread with what was sent)$/,
    at: /internalDate$/,
    right: "ours",
    why: `When the platform took it; what Date says counts for mail that is put there. ${REFERENCE}/users.messages`,
  },
  {
    asked: /^send into a thread that is not there$/,
    at: /./,
    right: "ours",
    why: "There is no such thread: 404. The emulator takes any word for one.",
  },
];

export const isKnown = ({ asked, at }: Difference, known: KnownDifference): boolean =>
  known.asked.test(asked) && known.at.test(at);
