/** Turns that run in a conversation, piece by piece. What has ended is read from the service, not kept here. */
import type { LiveEvent } from "../../live/frames.ts";

export interface LiveTurn {
  readonly id: string;
  /** What was said and what was done, in that order. */
  readonly parts: readonly LivePart[];
}

export type LivePart =
  | { readonly kind: "text"; readonly text: string }
  /** `ok`: undefined while it runs, or waits for a yes. */
  | { readonly kind: "call"; readonly callId: string; readonly tool: string; readonly ok: boolean | undefined };

export interface Place {
  /** `session_id` */
  readonly name: string;
  /** Two devices may have a conversation of the same name. */
  readonly device: string | null;
}

export const isIn = ({ payload }: LiveEvent, { name, device }: Place): boolean =>
  payload["session_id"] === name && (payload["device"] ?? null) === device;

/** What is known after the event. A turn whose beginning was missed is shown from where we came in. */
export function grown(turns: readonly LiveTurn[], { type, payload }: LiveEvent): readonly LiveTurn[] {
  const id = String(payload["turn_id"]);
  const known = turns.find((turn) => turn.id === id);
  // What became of a turn without an answer is told to who sent the message; in the conversation it leaves nothing.
  if (type === "turn-end" && payload["ok"] !== true) return known ? turns.filter((turn) => turn !== known) : turns;
  // Its answer is in the transcript already.
  if (type === "turn-end" && known === undefined) return turns;
  const { parts } = known ?? { parts: [] };
  const grownParts = changed(parts, type, payload);
  if (grownParts === undefined) return turns;
  const next = { id, parts: grownParts };
  return known ? turns.map((one) => (one === known ? next : one)) : [...turns, next];
}

/** A turn comes into the transcript when it is done, perhaps before its end is told; it is not shown twice. */
export const withoutKept = (turns: readonly LiveTurn[], kept: ReadonlySet<string>): readonly LiveTurn[] =>
  turns.some(({ id }) => kept.has(id)) ? turns.filter(({ id }) => !kept.has(id)) : turns;

function changed(
  parts: readonly LivePart[],
  type: string,
  payload: LiveEvent["payload"],
): readonly LivePart[] | undefined {
  const callId = String(payload["call_id"]);
  switch (type) {
    case "turn-start":
    case "turn-end":
      return parts;
    case "text-delta":
      return longer(parts, String(payload["text"]));
    case "tool-call":
      return [...parts, { kind: "call", callId, tool: String(payload["tool"]), ok: undefined }];
    case "tool-result": {
      const ok = payload["ok"] === true;
      return parts.map((part) => (part.kind === "call" && part.callId === callId ? { ...part, ok } : part));
    }
    default:
      return undefined;
  }
}

function longer(parts: readonly LivePart[], text: string): readonly LivePart[] {
  const last = parts.at(-1);
  return last?.kind === "text"
    ? [...parts.slice(0, -1), { kind: "text", text: last.text + text }]
    : [...parts, { kind: "text", text }];
}
