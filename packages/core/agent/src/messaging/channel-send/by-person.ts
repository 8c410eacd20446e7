/** What a person says by `svc send`: to whom he likes, since the lists of targets bind the agent and not its owner. */
import { randomUUID } from "node:crypto";
import { SENT_BY_PERSON } from "../deliver.ts";
import { outgoingId } from "../message-id.ts";
import { queue, type QueueParts, type Said, type Saying } from "./queue.ts";

/** Resolves with the ids of its messages once all of it is on disk. Throws as `queue`. */
export async function sendByPerson(
  parts: QueueParts,
  said: Said,
  saying: Pick<Saying, "workspace" | "agent" | "signal">,
): Promise<string[]> {
  const id = randomUUID();
  const deliveries = await queue(parts, said, { ...saying, keyOf: (part) => `${SENT_BY_PERSON}${id}:${part}` });
  return deliveries.map(({ n }) => outgoingId(n));
}
