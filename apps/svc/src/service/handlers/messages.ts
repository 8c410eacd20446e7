/** What `svc inbox` asks for: both boxes, of a service that runs or of the database alone. */
import { type MessageAdmin, messageDetailJson, messageJson } from "@svc/messaging";
import type { Handlers } from "../control.ts";

type Names = "inbox" | "inbox-show" | "inbox-replay" | "inbox-ended" | "inbox-replay-all" | "inbox-drop";

export function messageHandlers(messageAdmin: MessageAdmin): Pick<Handlers, Names> {
  return {
    inbox: ({ body: { box, channel, state, limit } }) => {
      const filter = { ...(box && { box }), ...(channel && { channel }), ...(state && { state }) };
      return { messages: messageAdmin.list(filter, limit).map(messageJson) };
    },
    "inbox-show": ({ body }) => messageDetailJson(messageAdmin.show(body.id)),
    "inbox-replay": async ({ body }) => messageJson(await messageAdmin.replay(body.id)),
    "inbox-ended": async ({ body }) => ({ count: await messageAdmin.countEnded(body) }),
    "inbox-replay-all": async ({ body, signal }) => {
      const { count, ids } = await messageAdmin.replayAll(body, signal);
      return { replayed: count, messages: ids };
    },
    "inbox-drop": async ({ body }) => messageJson(await messageAdmin.drop(body.id)),
  };
}
