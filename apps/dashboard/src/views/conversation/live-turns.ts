/** Running turns, built from live events. Earlier text and ended turns are read from the API. */
import type { SessionMessage } from "@svc/api";
import type { Live, LiveEvent } from "../../client/live.ts";
import { Cell } from "../../cell.ts";

/** An ended turn stays until its conversation is opened; many never are. */
const MAX_CONVERSATIONS = 50;

const NONE: readonly LiveTurn[] = [];

/** Running turns of all conversations, so that a view that opens shows their text so far. */
export class LiveTurns {
  /** Changes when the display must render again. */
  readonly changes = new Cell(0);
  readonly #turns = new Map<string, readonly LiveTurn[]>();
  readonly #frame: (draw: () => void) => void;
  #isDue = false;

  /** `frame`: calls back when the next render may start. */
  constructor(live: Pick<Live, "listen">, frame: (draw: () => void) => void = nextFrame()) {
    this.#frame = frame;
    live.listen({
      event: (event) => {
        // The text has gaps now, or belongs to an earlier daemon process.
        if (event.type === "events-dropped") return this.clear();
        const id = event.payload["conversation_id"];
        // Deltas arrive faster than a reader can follow.
        const isPiece = event.type === "text-delta";
        if (typeof id === "string") this.#change(id, (turns) => grown(turns, event), isPiece);
      },
    });
  }

  of(conversation: string): readonly LiveTurn[] {
    return this.#turns.get(conversation) ?? NONE;
  }

  /** Drops turns that the read messages contain. */
  settle(conversation: string, messages: readonly SessionMessage[]): void {
    this.#change(conversation, (turns) => withoutEnded(turns, messages), false);
  }

  clear(): void {
    this.#turns.clear();
    this.#draw();
  }

  #change(conversation: string, change: (turns: readonly LiveTurn[]) => readonly LiveTurn[], mayWait: boolean): void {
    const before = this.of(conversation);
    const after = change(before);
    if (after === before) return;
    if (after.length === 0) this.#turns.delete(conversation);
    else this.#turns.set(conversation, after);
    for (const oldest of this.#turns.keys()) {
      if (this.#turns.size <= MAX_CONVERSATIONS) break;
      this.#turns.delete(oldest);
    }
    if (!mayWait) return this.#draw();
    if (this.#isDue) return;
    this.#isDue = true;
    this.#frame(() => {
      if (this.#isDue) this.#draw();
    });
  }

  #draw(): void {
    this.#isDue = false;
    this.changes.set(this.changes.value + 1);
  }
}

/** At most once per frame and half of the time: rendering a long answer takes longer than a frame. */
function nextFrame(): (draw: () => void) => void {
  let freeAtMs = 0;
  const frame = (draw: () => void): void => {
    requestAnimationFrame((startMs) => {
      draw();
      // After the paint of this frame.
      setTimeout(() => {
        const nowMs = performance.now();
        freeAtMs = nowMs + Math.max(0, nowMs - startMs - FRAME_MS);
      });
    });
  };
  return (draw) => {
    const waitMs = freeAtMs - performance.now();
    if (waitMs > 0) setTimeout(() => frame(draw), waitMs);
    else frame(draw);
  };
}

const FRAME_MS = 16;

export interface LiveTurn {
  readonly id: string;
  /** Texts and tool calls, in order. */
  readonly parts: readonly LivePart[];
  /** Set while the turn waits to retry the model; undefined while it works. */
  readonly waiting?: Waiting | undefined;
  /** False: events of its start were missed. */
  readonly isWhole: boolean;
  readonly isOver: boolean;
}

export interface Waiting {
  readonly message: string;
  /** By this browser's clock. */
  readonly untilMs: number;
  /** Number of the next attempt, from 2. */
  readonly attempt: number;
  readonly attempts: number;
}

export type LivePart =
  /** `offset`: characters of the answer before it. */
  | { readonly kind: "text"; readonly text: string; readonly offset: number }
  /** `ok`: undefined while it runs or awaits approval. */
  | {
      readonly kind: "call";
      readonly callId: string;
      readonly tool: string;
      readonly ok: boolean | undefined;
      readonly isRejected?: boolean;
    };

/** The state after the event. */
export function grown(
  turns: readonly LiveTurn[],
  { type, payload }: LiveEvent,
  nowMs: number = Date.now(),
): readonly LiveTurn[] {
  const id = String(payload["turn_id"]);
  const known = turns.find((turn) => turn.id === id);
  // The conversation already has the result.
  if (type === "turn-end" && known === undefined) return turns;
  const { parts, isWhole } = known ?? { parts: [], isWhole: type === "turn-start" };
  const grownParts = changed(parts, type, payload);
  if (grownParts === undefined) return turns;
  const waiting = type === "turn-waiting" ? waitOf(payload, nowMs) : undefined;
  const next: LiveTurn = { id, parts: grownParts, isWhole, isOver: type === "turn-end", ...(waiting && { waiting }) };
  return known ? turns.map((one) => (one === known ? next : one)) : [...turns, next];
}

/** Turns whose end is not in the messages yet. Turns that ended or were removed are dropped. */
export function withoutEnded(turns: readonly LiveTurn[], messages: readonly SessionMessage[]): readonly LiveTurn[] {
  const running = new Set(messages.filter(isOpen).map(({ turn_id: id }) => id));
  const stored = new Set(messages.map(({ turn_id: id }) => id));
  const isGone = ({ id, isOver }: LiveTurn): boolean => (stored.has(id) ? !running.has(id) : isOver);
  return turns.some(isGone) ? turns.filter((turn) => !isGone(turn)) : turns;
}

const isOpen = ({ state }: SessionMessage): boolean => state === "running" || state === "waiting";

/** The parts of a running turn: the state that was read, plus later events. */
export function partsOf(read: readonly SessionMessage[], live: LiveTurn | undefined): readonly LivePart[] {
  if (live?.isWhole) return live.parts;
  let parts: readonly LivePart[] = [];
  for (const message of read) if (message.role === "assistant") parts = withMessage(parts, message);
  for (const part of live?.parts ?? []) parts = part.kind === "call" ? withCall(parts, part) : withText(parts, part);
  return parts;
}

type Call = Extract<LivePart, { kind: "call" }>;

type Text = Extract<LivePart, { kind: "text" }>;

const isSame = (one: LivePart, { callId }: Call): boolean => one.kind === "call" && one.callId === callId;

function withCall(parts: readonly LivePart[], call: Call): readonly LivePart[] {
  const isThere = parts.some((one) => isSame(one, call));
  return isThere ? parts.map((one) => (isSame(one, call) ? call : one)) : [...parts, call];
}

/** The part of the text that is new. */
function withText(parts: readonly LivePart[], { text, offset }: Text): readonly LivePart[] {
  const length = lengthOf(parts);
  const rest = text.slice(Math.max(0, length - offset));
  return rest === "" ? parts : longer(parts, rest, length);
}

function withMessage(parts: readonly LivePart[], { text, calls }: SessionMessage): readonly LivePart[] {
  const said = text === "" ? parts : [...parts, { kind: "text", text, offset: lengthOf(parts) } as const];
  // Without an output it has not ended.
  const done = calls.map(({ call_id: callId, tool, ok, output }) => {
    return { kind: "call", callId, tool, ok: !ok && output === null ? undefined : ok } as const;
  });
  return [...said, ...done];
}

const lengthOf = (parts: readonly LivePart[]): number =>
  parts.reduce((sum, part) => sum + (part.kind === "text" ? part.text.length : 0), 0);

function changed(
  parts: readonly LivePart[],
  type: string,
  payload: LiveEvent["payload"],
): readonly LivePart[] | undefined {
  const callId = String(payload["call_id"]);
  switch (type) {
    case "turn-start":
    case "turn-waiting":
    case "turn-end":
      return parts;
    case "text-delta":
      return longer(parts, String(payload["text"]), Number(payload["offset"] ?? lengthOf(parts)));
    case "tool-call":
      return [...parts, { kind: "call", callId, tool: String(payload["tool"]), ok: undefined }];
    case "tool-result": {
      const ok = payload["ok"] === true;
      const rejected = payload["outcome"] === "rejected" && { isRejected: true };
      return parts.map((part) =>
        part.kind === "call" && part.callId === callId ? { ...part, ok, ...rejected } : part,
      );
    }
    default:
      return undefined;
  }
}

function waitOf(payload: LiveEvent["payload"], nowMs: number): Waiting {
  return {
    message: String(payload["message"]),
    untilMs: nowMs + Number(payload["retry_in_ms"]),
    attempt: Number(payload["attempt"]),
    attempts: Number(payload["attempts"]),
  };
}

function longer(parts: readonly LivePart[], text: string, offset: number): readonly LivePart[] {
  const last = parts.at(-1);
  return last?.kind === "text"
    ? [...parts.slice(0, -1), { ...last, text: last.text + text }]
    : [...parts, { kind: "text", text, offset }];
}
