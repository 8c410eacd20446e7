/** What `svc inbox` asks for: both boxes, of a service that runs or of the database alone. */
import { type Json, SvcError } from "@svc/contract";
import type { ControlHandlers } from "@svc/gateway/control";
import { type EndedFilter, type MessageAdmin, messageDetailJson, messageJson } from "@svc/messaging";
import { limitOf, text } from "./input.ts";

export function messageHandlers(messageAdmin: MessageAdmin): ControlHandlers {
  return {
    inbox: ({ body }) => {
      const box = boxOf(body["box"]);
      const channel = text(body["channel"]);
      const state = text(body["state"]);
      const filter = { ...(box && { box }), ...(channel && { channel }), ...(state && { state }) };
      return { messages: messageAdmin.list(filter, limitOf(body["limit"])).map(messageJson) };
    },
    "inbox-show": ({ body }) => messageDetailJson(messageAdmin.show(text(body["id"]) ?? "")),
    "inbox-replay": async ({ body }) => messageJson(await messageAdmin.replay(text(body["id"]) ?? "")),
    "inbox-ended": async ({ body }) => ({ count: await messageAdmin.countEnded(endedOf(body)) }),
    "inbox-replay-all": async ({ body, signal }) => {
      const { count, ids } = await messageAdmin.replayAll(endedOf(body), signal);
      return { replayed: count, messages: ids };
    },
    "inbox-drop": async ({ body }) => messageJson(await messageAdmin.drop(text(body["id"]) ?? "")),
  };
}

function boxOf(value: Json | undefined): "in" | "out" | undefined {
  if (value === undefined || value === "in" || value === "out") return value;
  throw new SvcError("USAGE", "--box takes in or out.");
}

function endedOf({ state, channel: named }: { readonly [key: string]: Json }): EndedFilter {
  const channel = text(named);
  if (state === "failed" || state === "dead") return { state, ...(channel !== undefined && { channel }) };
  throw new SvcError("USAGE", "--state takes failed or dead here.");
}
