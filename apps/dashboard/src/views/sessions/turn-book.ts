/** Running turns of all conversations: a page that opens one shows its text so far. */
import type { Message } from "../../api/shapes.ts";
import type { Live } from "../../live/live.ts";
import { Cell } from "../../state/cell.ts";
import { grown, type LiveTurn, withoutEnded } from "./live-turns.ts";

/** A turn that has ended stays until its conversation is opened, and many never are. */
const MAX_CONVERSATIONS = 50;

export class TurnBook {
  /** Changes when the display must render again. */
  readonly changes = new Cell(0);
  readonly #turns = new Map<string, readonly LiveTurn[]>();
  readonly #frame: (draw: () => void) => void;
  #isDue = false;

  /** `frame`: calls back when the next drawing may begin. */
  constructor(live: Pick<Live, "listen">, frame: (draw: () => void) => void = nextFrame()) {
    this.#frame = frame;
    live.listen({
      event: (event) => {
        // What was put together of pieces has a hole now, or belongs to a process that is gone.
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

  /** The conversation was read. */
  settle(conversation: string, messages: readonly Message[]): void {
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

/** Once a frame, and no more than half of the time: a long answer costs more to draw than a frame lasts. */
function nextFrame(): (draw: () => void) => void {
  let freeAtMs = 0;
  const frame = (draw: () => void): void => {
    requestAnimationFrame((startMs) => {
      draw();
      // Behind the drawing of this frame.
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

const NONE: readonly LiveTurn[] = [];
