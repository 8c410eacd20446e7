/** Messages of channels: incoming, outgoing, stuck. */
import { type ErrorCode, ERRORS, integer } from "@svc/contract";
import * as v from "valibot";
import { anyJson, filter, limit, name, oneOf, time, type Output, type ParametersOutput } from "./schema.ts";

const INBOX_STATES = ["waiting", "done", "failed", "dropped"] as const;
const OUTBOX_STATES = ["waiting", "sent", "dead", "dropped"] as const;
const STATES = [...new Set([...INBOX_STATES, ...OUTBOX_STATES])];

export const InboxMessage = v.object({
  id: name("in-12 came in, out-7 goes out."),
  state: v.picklist(STATES),
  waits_for: v.pipe(
    v.nullable(v.picklist(["keys"])),
    v.description("keys: it is encrypted, and is answered once its keys come. null: nothing but its turn."),
  ),
  channel: v.string(),
  conversation: v.nullable(v.object({ id: v.string(), thread: v.nullable(v.string()) })),
  sender: v.pipe(v.nullable(v.string()), v.description("Of what came in.")),
  text: v.string(),
  attempts: integer(0),
  at: time("When it came, or was written; UTC."),
  ended_at: v.nullable(time("When it was done with; UTC.")),
  error: v.pipe(
    v.nullable(v.picklist(Object.keys(ERRORS) as ErrorCode[])),
    v.description("Why the last attempt failed."),
  ),
  turn_id: v.nullable(v.string()),
});
export type InboxMessage = Output<typeof InboxMessage>;

export const InboxMessageDetail = v.object({
  ...InboxMessage.entries,
  kind: v.picklist(["message", "reaction", "notice", "locked", "delivery"]),
  files: v.array(v.object({ kind: v.picklist(["image", "audio", "video", "document", "sticker"]), name: v.string() })),
  deliveries: v.pipe(v.array(InboxMessage), v.description("Of what came in: what went out for it.")),
  platform_id: v.nullable(v.string()),
  platform_status: v.pipe(v.nullable(v.string()), v.description("What the platform said of it later.")),
  platform_reason: v.pipe(v.nullable(v.string()), v.description("Why it failed at the platform.")),
  notice: anyJson,
});
export type InboxMessageDetail = Output<typeof InboxMessageDetail>;

export const InboxList = v.object({
  messages: v.array(InboxMessage),
  counts: v.object({ inbox: counts(INBOX_STATES), outbox: counts(OUTBOX_STATES) }),
  oldest_waiting_secs: v.pipe(
    v.nullable(integer(0)),
    v.description("How long the oldest message waits for its answer, or to be delivered; null: none waits."),
  ),
});
export type InboxList = Output<typeof InboxList>;

function counts<const State extends string>(states: readonly State[]) {
  return v.object(
    Object.fromEntries(states.map((state) => [state, integer(0)])) as Record<State, ReturnType<typeof integer>>,
  );
}

export const InboxQuery = {
  box: v.optional(v.pipe(v.picklist(["in", "out"]), v.description("in or out: what came in, or what goes out"))),
  channel: filter("a channel's id", 64),
  state: oneOf(STATES),
  limit: limit("messages"),
};
export type InboxQuery = ParametersOutput<typeof InboxQuery>;
