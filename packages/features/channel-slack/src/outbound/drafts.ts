/**
 * Answers that are seen being written: the message is changed as it grows.
 * https://docs.slack.dev/reference/methods/chat.update
 */
import { type Drafts, type Json, SvcError } from "@svc/contract";
import type { FeatureContext } from "@svc/contract";
import type { WebApi } from "../api/web-api.ts";
import type { Config } from "../config.ts";
import { messageRefOf } from "../ids.ts";
import { mrkdwnOf } from "../markdown/mrkdwn.ts";
import { richTextOf } from "../markdown/rich-text.ts";
import { LITERAL } from "./message.ts";

/** "The `text` field cannot exceed 4,000 characters"; what is counted are the bytes of the escaped text. */
const TEXT_BYTES = 4_000;
/** What was a block may have to stay one: a long answer that became short. */
const MISMATCH = "block_mismatch";
/** Changes that a workspace takes in a minute, whatever the conversation: fifty and more, of which some are for the end. */
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
