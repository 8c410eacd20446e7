/** Messages of channels: incoming, outgoing, stuck. For operators: they are other people's words. */
import { InboxList, InboxMessage, InboxMessageDetail, InboxQuery, name } from "@svc/api";
import { type MessageAdmin, messageDetailJson, messageJson } from "@svc/messaging";
import { type ApiRequest, apiRoute, type ApiRoute, type ApiSpec, limitOf, respond } from "./route.ts";

const params = { id: name("The message's id.") };

const LIST = {
  method: "GET",
  path: "/api/inbox",
  access: "operate",
  summary: "Lists the messages of channels, those that came in and those that go out, the newest first.",
  query: InboxQuery,
  answers: {
    200: {
      description: "The messages, each with the beginning of its text, and how many there are of all.",
      body: InboxList,
    },
  },
} satisfies ApiSpec;

const SHOW = {
  method: "GET",
  path: "/api/inbox/{id}",
  access: "operate",
  summary: "Shows one message, and what went out for it.",
  params,
  answers: { 200: { description: "The message.", body: InboxMessageDetail } },
  errors: ["MESSAGE_UNKNOWN"],
} satisfies ApiSpec;

const changes = ["MESSAGE_UNKNOWN", "MESSAGE_STATE", "STORE_FULL", "STORE_FAILED"] as const;

const REPLAY = {
  method: "POST",
  path: "/api/inbox/{id}/replay",
  access: "operate",
  summary: "Takes up again what failed or was dropped: a message is answered, an answer delivered.",
  details: "Of a message that was answered, those of its answers that could not be delivered.",
  params,
  answers: { 200: { description: "It waits again.", body: InboxMessage } },
  errors: changes,
} satisfies ApiSpec;

const DROP = {
  method: "DELETE",
  path: "/api/inbox/{id}",
  access: "operate",
  summary: "Drops a message: it is not retried any more, and stays visible.",
  details: "Stops the turn that runs for the message.",
  params,
  answers: { 200: { description: "It is dropped.", body: InboxMessage } },
  errors: changes,
} satisfies ApiSpec;

export const INBOX_SPECS = [LIST, SHOW, REPLAY, DROP];

export const inboxRoutes = (messageAdmin: MessageAdmin): ApiRoute[] => [
  apiRoute(LIST, ({ query }) => respond(LIST, 200, listed(messageAdmin, query))),
  apiRoute(SHOW, ({ params }) => respond(SHOW, 200, messageDetailJson(messageAdmin.show(idOf(params))))),
  apiRoute(REPLAY, async ({ params }) => respond(REPLAY, 200, messageJson(await messageAdmin.replay(idOf(params))))),
  apiRoute(DROP, async ({ params }) => respond(DROP, 200, messageJson(await messageAdmin.drop(idOf(params))))),
];

const idOf = (params: ApiRequest["params"]): string => params["id"] ?? "";

function listed(messageAdmin: MessageAdmin, { box, channel, state, ...query }: InboxQuery): InboxList {
  const filter = { ...(box && { box }), ...(channel !== undefined && { channel }), ...(state && { state }) };
  const { inbox, outbox, oldestWaitingMs } = messageAdmin.counts();
  return {
    messages: messageAdmin.list(filter, limitOf(query)).map(messageJson),
    counts: { inbox, outbox },
    oldest_waiting_secs: oldestWaitingMs === undefined ? null : Math.floor(oldestWaitingMs / 1000),
  };
}
