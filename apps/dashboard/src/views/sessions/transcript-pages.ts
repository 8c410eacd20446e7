/** A conversation in pages, read from its end backwards. Turns that have ended never change, so older pages stay as they are. */
import type { Message } from "../../api/shapes.ts";

export interface Transcript {
  readonly messages: readonly Message[];
  /** Leads to what comes before; null: nothing does. */
  readonly before: string | null;
}

/** @param older The page before `shown`. */
export const prepended = (shown: Transcript, older: Transcript): Transcript => ({
  messages: [...older.messages, ...shown.messages],
  before: older.before,
});

/** The newest page was read again. What was shown above it stays, as far as no message is missing in between. */
export function renewed(shown: Transcript | undefined, newest: Transcript): Transcript {
  const [first] = newest.messages;
  if (shown === undefined || first === undefined) return newest;
  const at = shown.messages.findIndex((message) => isSame(message, first));
  if (at < 0) return newest;
  return {
    messages: [...shown.messages.slice(0, at), ...newest.messages],
    before: at === 0 ? newest.before : shown.before,
  };
}

const isSame = (one: Message, other: Message): boolean =>
  one.turn_id === other.turn_id && one.role === other.role && one.at === other.at && one.text === other.text;
