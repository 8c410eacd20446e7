/** One delivery, from its row to what is noted of the attempt. */
import type { Channel } from "@svc/contract";
import type { Delivery } from "@svc/store";
import { attempt } from "./attempt.ts";
import type { LeftBehind } from "./left-behind.ts";
import type { DispatcherOptions } from "./options.ts";
import { mailIdOf, settle, settleDead } from "./settle.ts";

export interface Sending {
  readonly channel: Channel;
  readonly maxAttempts: number;
  /** Calls it off. */
  readonly signal: AbortSignal;
}

/** What the disk refused is tried again. */
const REFUSED_REST_MS = 1_000;
/** A row that can't be read is a matter for a person; nobody needs to be told of it every second. */
const UNREADABLE_REST_MS = 60_000;

/** Resolves with how long it rests; undefined: there is nothing more to do about it. Never rejects. */
export async function sendOne(
  options: DispatcherOptions,
  left: Pick<LeftBehind<unknown>, "isDeadly" | "note" | "takeBack">,
  n: number,
  { channel, maxAttempts, signal }: Sending,
): Promise<number | undefined> {
  const { store, log } = options;
  const fields = { messageId: mailIdOf({ n }) };
  let delivery: Delivery | undefined;
  try {
    delivery = store.outbox.read(n);
  } catch (error) {
    log.error("a message that waits to be sent can't be read", { ...fields, error: String(error) });
    return UNREADABLE_REST_MS;
  }
  if (delivery?.state !== "waiting") return undefined;
  if (left.isDeadly(n)) return settleDead(options, delivery, "DELIVERY_CRASHED", 0, signal);
  try {
    await left.note(n);
  } catch {
    return REFUSED_REST_MS;
  }
  const { channel: id } = delivery.conversation;
  const onUnexpected = (error: unknown): void =>
    log.error("a channel failed unexpectedly", { ...fields, channel: id, error: nameOf(error) });
  const outcome = await attempt({ ...options, onUnexpected }, channel, delivery, signal);
  if (outcome.state !== "unknown") return settle(options, delivery, outcome, maxAttempts, signal);
  await left.takeBack(n);
  return undefined;
}

/** Its words may be the platform's. */
const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);
