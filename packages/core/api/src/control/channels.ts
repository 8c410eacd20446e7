/** `svc channels`, `svc send`, `svc inbox`. */
import { type ErrorCode, ERRORS, integer, type LinkState, type VerificationState } from "@svc/contract";
import * as v from "valibot";
import { InboxMessage, InboxMessageDetail } from "../inbox.ts";
import { ChannelReport } from "../reports.ts";
import { type Output, undescribed } from "../schema.ts";
import { limit, type Message, nothing, typed } from "./message.ts";

/** What a platform says when it is asked; its no is an answer too. */
export const PlatformAnswer = v.variant("ok", [
  v.object({ ok: v.literal(true), says: v.string() }),
  v.object({
    ok: v.literal(false),
    code: v.picklist(Object.keys(ERRORS) as ErrorCode[]),
    error: v.string(),
    hint: v.nullable(v.string()),
  }),
]);
export type PlatformAnswer = Output<typeof PlatformAnswer>;

const channel = v.object({ channel: v.string() });
const message = v.object({ id: v.string() });

const ended = v.object({
  state: typed(["failed", "dead"], "--state takes failed or dead here."),
  channel: v.exactOptional(v.string()),
});

export const CHANNELS = {
  channels: { input: nothing, output: ChannelReport },
  "channel-test": { input: channel, output: PlatformAnswer },
  "channel-setup": { input: channel, output: PlatformAnswer },
  "channel-link": {
    input: v.object({ ...channel.entries, step: v.picklist(["begin", "state"]) }),
    output: undescribed<LinkState>(),
  },
  "channel-verify": {
    input: v.object({
      ...channel.entries,
      step: v.picklist(["begin", "state", "compare", "answer"]),
      /** With `answer`. */
      matches: v.optional(v.boolean(), false),
    }),
    output: undescribed<VerificationState>(),
  },
  send: {
    input: v.object({
      ...channel.entries,
      conversation: v.string(),
      thread: v.exactOptional(v.string()),
      text: v.string(),
      /** Paths in the workspace of the default agent. */
      files: v.optional(v.array(v.string()), []),
      wait: v.optional(v.boolean(), false),
    }),
    output: v.object({
      messages: v.array(InboxMessageDetail),
      why_waiting: v.pipe(v.nullable(v.string()), v.description("Why the channel sends nothing now.")),
    }),
  },
  inbox: {
    input: v.object({
      box: v.exactOptional(typed(["in", "out"], "--box takes in or out.")),
      channel: v.exactOptional(v.string()),
      state: v.exactOptional(v.string()),
      limit,
    }),
    output: v.object({ messages: v.array(InboxMessage) }),
  },
  "inbox-show": { input: message, output: InboxMessageDetail },
  "inbox-replay": { input: message, output: InboxMessage },
  "inbox-drop": { input: message, output: InboxMessage },
  "inbox-ended": { input: ended, output: v.object({ count: integer(0) }) },
  "inbox-replay-all": {
    input: ended,
    output: v.object({ replayed: integer(0), messages: v.array(v.string()) }),
  },
} satisfies Readonly<Record<string, Message>>;
