/** What people see while an answer is made: a draft that grows, a status, a reaction. */
import { type Channel, type Drafts, type FeatureContext, type Json, SvcError } from "@svc/contract";
import type { Config } from "./config.ts";
import { mrkdwnOf, richTextOf } from "./markdown.ts";
import { conversationId, messageRefOf, timestamp } from "./protocol.ts";
import { LITERAL } from "./send.ts";
import type { WebApi } from "./web-api.ts";

// Answers that are seen being written: the message is changed as it grows.
// https://docs.slack.dev/reference/methods/chat.update

/** "The `text` field cannot exceed 4,000 characters"; the platform counts bytes of the escaped text. */
const TEXT_BYTES = 4_000;
/** A message with a block may have to keep it: a long answer that became short. */
const MISMATCH = "block_mismatch";
/** Edits per minute: a workspace allows fifty or more over all conversations; some are reserved for final texts. */
const EDITS_A_MINUTE = 45;
const MINUTE_MS = 60_000;

/** Undefined where there are to be none. */
export function draftsOf(config: Config, api: WebApi, { clock }: Pick<FeatureContext, "clock">): Drafts | undefined {
  const { stream_mode: mode, draft_update_interval_ms: intervalMs } = config;
  if (mode === "off") return undefined;
  const edited = new Map<string, number>();
  /** Conversations in which an answer is being written. */
  const busy = (): number => {
    for (const [id, atMs] of edited) if (clock.monotonic() - atMs > MINUTE_MS / 4) edited.delete(id);
    return edited.size;
  };
  return {
    mode,
    intervalMs: () => Math.min(600_000, Math.max(intervalMs, (busy() * MINUTE_MS) / EDITS_A_MINUTE)),
    async edit({ platformId }, text, signal) {
      signal.throwIfAborted();
      const message = messageRefOf(platformId);
      if (message === undefined) throw new SvcError("DELIVERY_REFUSED", "This is no message of Slack's.");
      edited.set(platformId, clock.monotonic());
      busy();
      const mrkdwn = mrkdwnOf(text);
      const change = (content: Readonly<Record<string, Json>>, answers?: readonly string[]) =>
        api.call("chat.update", { ...message, ...LITERAL, ...content }, signal, answers);
      if (Buffer.byteLength(mrkdwn) <= TEXT_BYTES) {
        const { error } = await change({ text: mrkdwn }, [MISMATCH]);
        if (error !== MISMATCH) return;
      }
      await change(asBlocks(text, mrkdwn));
    },
  };
}

/** The text is what notifications and searches show: the beginning does. */
const asBlocks = (text: string, mrkdwn: string): { text: string; blocks: Json } => ({
  text: beginningOf(mrkdwn),
  blocks: [richTextOf(text)],
});

function beginningOf(mrkdwn: string): string {
  let cut = mrkdwn.slice(0, 1_000).toWellFormed();
  // Half an entity or half a link would be read as text.
  cut = cut.replace(/&[a-z]*$/, "");
  const link = cut.indexOf("<", cut.lastIndexOf(">") + 1);
  if (link >= 0) cut = cut.slice(0, link);
  return cut === mrkdwn ? cut : `${cut}…`;
}

// What people see while a message is answered: a reaction on it, and, in threads, that someone is at it.
// https://docs.slack.dev/reference/methods/reactions.add, https://docs.slack.dev/reference/methods/assistant.threads.setStatus

/** The platform takes a status away after two minutes, and once a message is sent. */
const STATUS_LASTS_MS = 110_000;

/** `emoji`: blank for none. */
export function readMarksOf(api: WebApi, emoji: string): Channel["readMarks"] {
  if (emoji === "") return undefined;
  const react = async (method: string, messageId: string, done: string, signal: AbortSignal): Promise<void> => {
    const message = messageRefOf(messageId);
    // A command or a press is no message that could carry one.
    if (message === undefined) return;
    const { channel, ts } = message;
    await api.call(method, { channel, timestamp: ts, name: emoji }, signal, [done]);
  };
  return {
    mark: (_conversation, messageId, signal) => react("reactions.add", messageId, "already_reacted", signal),
    clear: (_conversation, messageId, signal) => react("reactions.remove", messageId, "no_reaction", signal),
  };
}

export function typingOf(api: WebApi): NonNullable<Channel["typing"]> {
  /** Conversations without a status display, known only from a failed request. */
  const without = new Set<string>();
  return {
    lastsMs: STATUS_LASTS_MS,
    async start({ id, thread }, _messageId, signal) {
      signal.throwIfAborted();
      // Only threads have one. Elsewhere the reaction is the sign.
      if (conversationId(id) === undefined || timestamp(thread) === undefined || without.has(id)) return;
      const args = { channel_id: id, thread_ts: thread, status: "is thinking…" };
      await api.call("assistant.threads.setStatus", args, signal).catch((error: unknown) => {
        if (error instanceof SvcError && error.code !== "DELIVERY_FAILED" && without.size < MOST) without.add(id);
        throw error;
      });
    },
  };
}

const MOST = 10_000;
