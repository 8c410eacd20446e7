/**
 * An update: what it means to the service. An edited message is not a second one: what was said has been answered, and an
 * answer to every slip that is corrected nobody wants. https://core.telegram.org/bots/api#update
 */
import type { Inbound, Json } from "@svc/contract";
import { fieldsOf, idOf, someFields } from "../fields.ts";
import { type MessageReading, type ReadMessage, readMessage } from "./message.ts";
import { readPress } from "./press.ts";
import { readReaction } from "./reaction.ts";

export interface ReadUpdate {
  readonly message?: ReadMessage;
  readonly inbound?: Inbound;
  /** A press that waits to be answered. */
  readonly queryId?: string;
}

/** Reads any JSON at all: what is of an unknown shape, or of another kind, holds nothing. */
export type UpdateReader = (update: Json, receivedAtMs: number) => ReadUpdate;

/** `reading`: undefined while nobody knows who we are. */
export const updateReader =
  (reading: () => MessageReading | undefined): UpdateReader =>
  (update, receivedAtMs) => {
    const fields = fieldsOf(update);
    const [message, query, reaction] = [fields["message"], fields["callback_query"], fields["message_reaction"]].map(
      someFields,
    );
    const known = reading();
    if (known === undefined) return {};
    if (message) {
      const read = readMessage(message, known, receivedAtMs);
      return read ? { message: read } : {};
    }
    if (query) {
      const { inbound, queryId } = readPress(query, known, receivedAtMs) ?? {};
      return { ...(inbound && { inbound }), ...(queryId !== undefined && { queryId }) };
    }
    const updateId = idOf(fields["update_id"]);
    const inbound = reaction && updateId !== undefined && readReaction(reaction, updateId, known, receivedAtMs);
    return inbound ? { inbound } : {};
  };
