/** Signs beside messages: typing, read receipts, and a reaction on what is being answered. */
import type { Channel } from "@svc/contract";
import { pathPart } from "@svc/kit";
import { eventIdOf } from "./inbound.ts";
import { type OutboundDeps, txnIdOf } from "./outbound.ts";
import { roomPath } from "./rooms.ts";

/** How long the homeserver shows that the account writes. */
const TYPING_SHOWN_MS = 10_000;
const TYPING_LASTS_MS = 8_000;

export function presenceOf({ api, userId, config }: OutboundDeps): Pick<Channel, "typing" | "readMarks"> {
  const emoji = config.ack_reaction.trim();
  /** Reactions of ours, by the message that they are on. */
  const reactions = new Map<string, string>();
  return {
    typing: {
      lastsMs: TYPING_LASTS_MS,
      async start({ id: roomId }, _messageId, signal) {
        signal.throwIfAborted();
        const path = roomPath(roomId, `typing/${pathPart(await userId(signal))}`);
        await api.call({ method: "PUT", path, json: { typing: true, timeout: TYPING_SHOWN_MS } }, signal);
      },
    },
    readMarks: {
      async mark({ id: roomId, thread }, messageId, signal) {
        signal.throwIfAborted();
        const eventId = eventIdOf(messageId);
        if (eventId === undefined) return;
        const path = roomPath(roomId, `receipt/m.read/${pathPart(eventId)}`);
        await api.call({ method: "POST", path, json: thread === undefined ? {} : { thread_id: thread } }, signal);
        if (emoji === "") return;
        const content = { "m.relates_to": { rel_type: "m.annotation", event_id: eventId, key: emoji } };
        const react = roomPath(roomId, `send/m.reaction/${pathPart(txnIdOf(eventId, "react", emoji))}`);
        const reaction = eventIdOf((await api.call({ method: "PUT", path: react, json: content }, signal))["event_id"]);
        if (reaction !== undefined) remember(reactions, eventId, reaction);
      },
      async clear({ id: roomId }, messageId, signal) {
        signal.throwIfAborted();
        const reaction = reactions.get(messageId);
        if (reaction === undefined) return;
        reactions.delete(messageId);
        const path = roomPath(roomId, `redact/${pathPart(reaction)}/${pathPart(txnIdOf(reaction, "redact"))}`);
        await api.call({ method: "PUT", path, json: {} }, signal);
      },
    },
  };
}

const MOST_REACTIONS = 1_000;

function remember(reactions: Map<string, string>, eventId: string, reaction: string): void {
  reactions.set(eventId, reaction);
  for (const oldest of reactions.keys()) if (reactions.size > MOST_REACTIONS) reactions.delete(oldest);
}
