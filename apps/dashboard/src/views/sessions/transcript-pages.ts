/** A conversation in pages, read from its end backwards. Turns that have ended seldom change, so older pages stay as they are. */
import type { Message } from "../../api/shapes.ts";

export interface Transcript {
  readonly messages: readonly Message[];
  /** Leads to what comes before; null: nothing does. */
  readonly before: string | null;
  /** The newest turn, and what can be done about it; null: nothing. */
  readonly newest: { readonly turn_id: string; readonly can: readonly FollowUp[] } | null;
}

export type FollowUp = "continue" | "retry" | "edit";

/** @param older The page before `shown`. */
export const prepended = (shown: Transcript, older: Transcript): Transcript => ({
  ...shown,
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
    newest: newest.newest,
  };
}

const isSame = (one: Message, other: Message): boolean =>
  one.turn_id === other.turn_id && one.role === other.role && one.at === other.at && one.text === other.text;

/** Messages of one turn, which follow each other. */
export interface Turn {
  readonly id: string;
  readonly messages: readonly Message[];
}

export function turnsOf(messages: readonly Message[]): readonly Turn[] {
  const turns: { id: string; messages: Message[] }[] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (last?.id === message.turn_id) last.messages.push(message);
    else turns.push({ id: message.turn_id, messages: [message] });
  }
  return turns;
}
