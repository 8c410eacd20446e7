/** Messages of channels: what came in, what goes out, and what got stuck. An operator's to see: they are other people's words. */
import { type MessageAdmin, type MessageListFilter, messageDetailJson, messageJson } from "@svc/agent";
import type { Json } from "@svc/contract";
import { jsonReply } from "../http/reply.ts";
import type { ApiRequest, ApiRoute } from "./app.ts";
import { limitOf } from "./fields.ts";
import * as spec from "./inbox-specs.ts";

export const inboxRoutes = (messageAdmin: MessageAdmin): ApiRoute[] => [
  { ...spec.LIST, handle: ({ query }) => jsonReply(200, listed(messageAdmin, query)) },
  { ...spec.SHOW, handle: ({ params }) => jsonReply(200, messageDetailJson(messageAdmin.show(idOf(params)))) },
  {
    ...spec.REPLAY,
    handle: async ({ params }) => jsonReply(200, messageJson(await messageAdmin.replay(idOf(params)))),
  },
  {
    ...spec.DROP,
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
