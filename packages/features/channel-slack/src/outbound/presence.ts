/**
 * What people see while a message is answered: a reaction on it, and, in threads, that somebody is at it.
 * https://docs.slack.dev/reference/methods/reactions.add, https://docs.slack.dev/reference/methods/assistant.threads.setStatus
 */
import { type Channel, SvcError } from "@svc/contract";
import type { WebApi } from "../api/web-api.ts";
import { conversationId, messageRefOf, timestamp } from "../ids.ts";

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
  /** Conversations that have no status to show, which the platform says only when it is asked. */
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
