/** What somebody has just said, until the conversation has it. */
import type { Message } from "../../api/shapes.ts";

export interface Sent {
  readonly text: string;
  /** The last turn that the conversation had then. */
  readonly after: string | undefined;
  /** The connection was lost before an answer came: whether there is one, the conversation tells. */
  readonly isLost: boolean;
}

/** Whether it is in the conversation by now: then it is not shown beside it, too. */
export function isKept({ text, after }: Sent, messages: readonly Message[]): boolean {
  const since = messages.slice(messages.findLastIndex(({ turn_id: id }) => id === after) + 1);
  return since.some((message) => message.role === "user" && message.text.trim() === text.trim());
}
