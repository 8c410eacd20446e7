/** Messages of channels: incoming, outgoing, stuck. For operators: they are other people's words. */
import { type MessageAdmin, messageDetailJson, type MessageListFilter, messageJson } from "@svc/messaging";
import { type ErrorCode, ERRORS, integer, type Json } from "@svc/contract";
import * as v from "valibot";
import { jsonReply } from "../http/reply.ts";
import { limit, limitOf, name, time } from "./fields.ts";
import type { ApiRequest, ApiRoute, ApiSpec } from "./route.ts";

const INBOX_STATES = ["waiting", "done", "failed", "dropped"] as const;
const OUTBOX_STATES = ["waiting", "sent", "dead", "dropped"] as const;
const STATES = [...new Set([...INBOX_STATES, ...OUTBOX_STATES])];

const MAIL = v.object({
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

const counts = <State extends string>(states: readonly State[]) =>
  v.object(Object.fromEntries(states.map((state) => [state, integer(0)])) as Record<State, ReturnType<typeof integer>>);

const FILE = v.object({ kind: v.picklist(["image", "audio", "video", "document", "sticker"]), name: v.string() });

const DETAIL = v.object({
  ...MAIL.entries,
  kind: v.picklist(["message", "reaction", "notice", "locked", "delivery"]),
  files: v.array(FILE),
  deliveries: v.pipe(v.array(MAIL), v.description("Of what came in: what went out for it.")),
  platform_id: v.nullable(v.string()),
  platform_status: v.pipe(v.nullable(v.string()), v.description("What the platform said of it later.")),
  platform_reason: v.pipe(v.nullable(v.string()), v.description("Why it failed at the platform.")),
  notice: v.unknown(),
});

const params = { id: name("The message's id.") };

/** Completes "state must be …". */
const one = <const Options extends readonly string[]>(options: Options, what: string) =>
  v.optional(v.pipe(v.picklist(options), v.description(what)));

const LIST: ApiSpec = {
  method: "GET",
  path: "/api/inbox",
  access: "operate",
  summary: "Lists the messages of channels, those that came in and those that go out, the newest first.",
  query: {
    box: one(["in", "out"], "in or out: what came in, or what goes out"),
    channel: v.optional(v.pipe(v.string(), v.maxLength(64), v.description("a channel's id"))),
    state: one(STATES, STATES.join(", ").replace(/, (?=[^,]*$)/, " or ")),
    limit: limit("messages"),
  },
  answers: {
    200: {
      description: "The messages, each with the beginning of its text, and how many there are of all.",
      body: v.object({
        messages: v.array(MAIL),
        counts: v.object({ inbox: counts(INBOX_STATES), outbox: counts(OUTBOX_STATES) }),
        oldest_waiting_secs: v.pipe(
          v.nullable(integer(0)),
          v.description("How long the oldest message waits for its answer, or to be delivered; null: none waits."),
        ),
      }),
    },
  },
};

const SHOW: ApiSpec = {
  method: "GET",
  path: "/api/inbox/{id}",
  access: "operate",
  summary: "Shows one message, and what went out for it.",
  params,
  answers: { 200: { description: "The message.", body: DETAIL } },
  errors: ["MESSAGE_UNKNOWN"],
};

const changes = ["MESSAGE_UNKNOWN", "MESSAGE_STATE", "STORE_FULL", "STORE_FAILED"] as const;

const REPLAY: ApiSpec = {
  method: "POST",
  path: "/api/inbox/{id}/replay",
  access: "operate",
  summary: "Takes up again what failed or was dropped: a message is answered, an answer delivered.",
  details: "Of a message that was answered, those of its answers that could not be delivered.",
  params,
  answers: { 200: { description: "It waits again.", body: MAIL } },
  errors: changes,
};

const DROP: ApiSpec = {
  method: "DELETE",
  path: "/api/inbox/{id}",
  access: "operate",
  summary: "Drops a message: it is not retried any more, and stays visible.",
  details: "Stops the turn that runs for the message.",
  params,
  answers: { 200: { description: "It is dropped.", body: MAIL } },
  errors: changes,
};

export const INBOX_SPECS = [LIST, SHOW, REPLAY, DROP];

export const inboxRoutes = (messageAdmin: MessageAdmin): ApiRoute[] => [
  { ...LIST, handle: ({ query }) => jsonReply(200, listed(messageAdmin, query)) },
  { ...SHOW, handle: ({ params }) => jsonReply(200, messageDetailJson(messageAdmin.show(idOf(params)))) },
  {
    ...REPLAY,
    handle: async ({ params }) => jsonReply(200, messageJson(await messageAdmin.replay(idOf(params)))),
  },
  {
    ...DROP,
    handle: async ({ params }) => jsonReply(200, messageJson(await messageAdmin.drop(idOf(params)))),
  },
];

const idOf = (params: ApiRequest["params"]): string => params["id"] ?? "";

function listed(messageAdmin: MessageAdmin, query: ApiRequest["query"]): Json {
  const { box, channel, state } = query as MessageListFilter;
  const filter = { ...(box && { box }), ...(channel !== undefined && { channel }), ...(state && { state }) };
  const { inbox, outbox, oldestWaitingMs } = messageAdmin.counts();
  return {
    messages: messageAdmin.list(filter, limitOf(query)).map(messageJson),
    counts: { inbox, outbox },
    oldest_waiting_secs: oldestWaitingMs === undefined ? null : Math.floor(oldestWaitingMs / 1000),
  };
}
