/** Messages of channels: what came in, what goes out, and what got stuck. An operator's to see: they are other people's words. */
import { type Mailbox, type MailFilter, mailDetailJson, mailJson } from "@svc/agent";
import type { Json } from "@svc/contract";
import { jsonReply } from "../http/reply.ts";
import type { ApiRequest, ApiRoute } from "./app.ts";
import { limitOf } from "./fields.ts";
import * as spec from "./inbox-specs.ts";

export const inboxRoutes = (mailbox: Mailbox): ApiRoute[] => [
  { ...spec.LIST, handle: ({ query }) => jsonReply(200, listed(mailbox, query)) },
  { ...spec.SHOW, handle: ({ params }) => jsonReply(200, mailDetailJson(mailbox.show(idOf(params)))) },
  {
    ...spec.REPLAY,
    handle: async ({ params }) => jsonReply(200, mailJson(await mailbox.replay(idOf(params)))),
  },
  {
    ...spec.DROP,
    handle: async ({ params }) => jsonReply(200, mailJson(await mailbox.drop(idOf(params)))),
  },
];

const idOf = (params: ApiRequest["params"]): string => params["id"] ?? "";

function listed(mailbox: Mailbox, query: ApiRequest["query"]): Json {
  const { box, channel, state } = query as MailFilter;
  const filter = { ...(box && { box }), ...(channel !== undefined && { channel }), ...(state && { state }) };
  const { inbox, outbox, oldestWaitingMs } = mailbox.counts();
  return {
    messages: mailbox.list(filter, limitOf(query)).map(mailJson),
    counts: { inbox, outbox },
    oldest_waiting_secs: oldestWaitingMs === undefined ? null : Math.floor(oldestWaitingMs / 1000),
  };
}
