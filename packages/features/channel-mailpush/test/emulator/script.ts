/** Everything that the channel asks of a mailbox, asked by the platform's own client. */
import type { gmail_v1 } from "googleapis/build/src/apis/gmail/index.js";
import { LABEL, TOPIC } from "./mailboxes.ts";
import { ANSWER, PLAIN, REPLY, WITH_FILE } from "./mails.ts";

/** What was answered, by what was asked, in order. */
export type Answers = Map<string, unknown>;

const userId = "me";
const INBOX = ["INBOX", "UNREAD"];

/** `wrong`: the same client with another token. */
export async function play({ users }: gmail_v1.Gmail, wrong: gmail_v1.Gmail): Promise<Answers> {
  const answers: Answers = new Map();
  const asked = async <Data>(what: string, asking: Promise<{ readonly data: Data }>): Promise<Data> => {
    const answer = await asking.then(({ data }) => data, refusalOf);
    answers.set(what, answer);
    return answer as Data;
  };
  const { messages, threads, history, labels } = users;

  await asked("profile", users.getProfile({ userId }));
  await asked("labels", labels.list({ userId }));
  const started = await asked("watch", users.watch({ userId, requestBody: { topicName: TOPIC, labelIds: ["INBOX"] } }));
  const start = started.historyId!;
  const noLabel = { topicName: TOPIC, labelIds: ["No_such"] };
  await asked("watch a label that is not there", users.watch({ userId, requestBody: noLabel }));
  await asked("watch without a topic", users.watch({ userId, requestBody: {} }));
  await asked("history without anything", history.list({ userId, startHistoryId: start }));
  await asked("messages without anything", messages.list({ userId, labelIds: ["INBOX"] }));

  const put = (raw: string, threadId?: string) => ({ raw, labelIds: INBOX, ...(threadId && { threadId }) });
  const plain = await asked("import", messages.import({ userId, requestBody: put(PLAIN) }));
  const withFile = await asked("insert", messages.insert({ userId, requestBody: put(WITH_FILE), ...BY_DATE }));
  const reply = put(REPLY, plain.threadId!);
  await asked("insert into a thread", messages.insert({ userId, requestBody: reply, ...BY_DATE }));
  const noLabels = { raw: PLAIN, labelIds: ["No_such"] };
  await asked("insert with a label that is not there", messages.insert({ userId, requestBody: noLabels }));

  const since = { userId, startHistoryId: start, historyTypes: ["messageAdded"] };
  await asked("history", history.list(since));
  const page = await asked("history, first page", history.list({ ...since, labelId: "INBOX", maxResults: 2 }));
  const { nextPageToken: pageToken } = page;
  await asked("history, last page", history.list({ ...since, labelId: "INBOX", maxResults: 2, pageToken: pageToken! }));
  await asked("history of another label", history.list({ ...since, labelId: LABEL.id }));
  await asked("history from nowhere", history.list({ userId, startHistoryId: "1" }));

  const id = plain.id!;
  const metadataHeaders = ["Message-ID", "Subject"];
  await asked("get", messages.get({ userId, id }));
  await asked("get metadata", messages.get({ userId, id, format: "metadata", metadataHeaders }));
  await asked("get minimal", messages.get({ userId, id, format: "minimal" }));
  await asked("get raw", messages.get({ userId, id, format: "raw" }));
  await asked("get one that is not there", messages.get({ userId, id: "19c0000000000000" }));
  const paper = await asked("get with a file", messages.get({ userId, id: withFile.id! }));
  const attachmentId = paper.payload?.parts?.at(-1)?.body?.attachmentId ?? "";
  await asked("file", messages.attachments.get({ userId, messageId: withFile.id!, id: attachmentId }));
  await asked("file that is not there", messages.attachments.get({ userId, messageId: withFile.id!, id: "none" }));

  await asked("list", messages.list({ userId, labelIds: INBOX }));
  await asked("list, first page", messages.list({ userId, labelIds: INBOX, maxResults: 2 }));
  await asked("list by Message-ID", messages.list({ userId, q: "rfc822msgid:<m2@example.org>" }));
  await asked("list by time", messages.list({ userId, q: `after:${AT - 1} before:${AT + 301}` }));

  const threadId = plain.threadId!;
  await asked("thread", threads.get({ userId, id: threadId, format: "metadata", metadataHeaders }));
  await asked("thread that is not there", threads.get({ userId, id: "19c0000000000000" }));

  const read = await asked("before labels", history.list({ userId, startHistoryId: start }));
  const change = { addLabelIds: [LABEL.id], removeLabelIds: ["UNREAD"] };
  await asked("modify", messages.modify({ userId, id, requestBody: change }));
  await asked("modify with nothing to change", messages.modify({ userId, id, requestBody: change }));
  const unknown = { addLabelIds: ["No_such"] };
  await asked("modify with a label that is not there", messages.modify({ userId, id, requestBody: unknown }));
  await asked("history of labels", history.list({ userId, startHistoryId: read.historyId! }));

  const sent = await asked("send", messages.send({ userId, requestBody: { raw: ANSWER, threadId } }));
  await asked("get what was sent", messages.get({ userId, id: sent.id! }));
  await asked("thread with what was sent", threads.get({ userId, id: threadId, format: "minimal" }));
  await asked("send nothing", messages.send({ userId, requestBody: {} }));

  const before = await asked("before the end", history.list({ userId, startHistoryId: start }));
  await asked("delete", messages.delete({ userId, id: withFile.id! }));
  await asked("history of what is deleted", history.list({ userId, startHistoryId: before.historyId! }));
  await asked("get what is deleted", messages.get({ userId, id: withFile.id! }));
  const nowhere = { raw: ANSWER, threadId: "19c0000000000000" };
  await asked("send into a thread that is not there", messages.send({ userId, requestBody: nowhere }));
  await asked("with another token", wrong.users.labels.list({ userId }));
  return answers;
}

/** Of the first mail, in seconds. */
const AT = Date.UTC(2026, 1, 3, 12) / 1000;
/** An insert is as new as its Date says, and no newer than it is put there. */
const BY_DATE = { internalDateSource: "dateHeader" };

/** Status and what the platform says of it. */
function refusalOf(error: unknown): unknown {
  const { status, response } = error as { readonly status?: number; readonly response?: { readonly data?: unknown } };
  return { refused: status, said: response?.data };
}
