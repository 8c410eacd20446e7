/** One conversation's messages that wait. */
import { LinkedList } from "@svc/kernel";
import type { WaitingMessage } from "@svc/store";

export interface Lane {
  readonly key: string;
  readonly channel: string;
  /** The one that runs is the first. */
  readonly messages: LinkedList<WaitingMessage>;
  isRunning: boolean;
  /** Stands among those that are ready, or are held. */
  isQueued: boolean;
  /** While it rests. */
  cancelRest: (() => void) | undefined;
  /** Those who want it to wait. */
  holds: number;
}

export const emptyLane = (key: string, channel: string): Lane => ({
  key,
  channel,
  messages: new LinkedList(),
  isRunning: false,
  isQueued: false,
  cancelRest: undefined,
  holds: 0,
});

/** In order, those that do not run and for which this is so. */
export function takeOut(
  { messages, isRunning }: Lane,
  isWanted: (message: WaitingMessage) => boolean,
): WaitingMessage[] {
  const all = messages.items();
  const stays = new Set(all.filter((message, at) => (at === 0 && isRunning) || !isWanted(message)));
  if (stays.size === all.length) return [];
  while (messages.size > 0) messages.shift();
  for (const message of stays) messages.add(message);
  return all.filter((message) => !stays.has(message));
}
