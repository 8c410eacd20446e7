/** Running turns of all conversations: a page that opens one shows its text so far. */
import type { Message } from "../../api/shapes.ts";
import type { Live } from "../../live/live.ts";
import { Cell } from "../../state/cell.ts";
import { grown, type LiveTurn, withoutEnded } from "./live-turns.ts";

/** A turn that has ended stays until its conversation is opened, and many never are. */
const MAX_CONVERSATIONS = 50;

type Turns = ReadonlyMap<string, readonly LiveTurn[]>;

export class TurnBook {
  readonly #turns = new Cell<Turns>(new Map());

  constructor(live: Pick<Live, "listen">) {
    live.listen({
      event: (event) => {
        // What was put together of pieces has a hole now, or belongs to a process that is gone.
        if (event.type === "events-dropped") return this.clear();
        const id = event.payload["conversation_id"];
        if (typeof id === "string") this.#change(id, (turns) => grown(turns, event));
      },
    });
  }

  get cell(): Cell<Turns> {
    return this.#turns;
  }

  of(conversation: string): readonly LiveTurn[] {
    return this.#turns.value.get(conversation) ?? NONE;
  }

  /** The conversation was read. */
  settle(conversation: string, messages: readonly Message[]): void {
    this.#change(conversation, (turns) => withoutEnded(turns, messages));
  }

  clear(): void {
    this.#turns.set(new Map());
  }

  #change(conversation: string, change: (turns: readonly LiveTurn[]) => readonly LiveTurn[]): void {
    const before = this.of(conversation);
    const after = change(before);
    if (after === before) return;
    const turns = new Map(this.#turns.value);
    if (after.length === 0) turns.delete(conversation);
    else turns.set(conversation, after);
    for (const oldest of turns.keys()) {
      if (turns.size <= MAX_CONVERSATIONS) break;
      turns.delete(oldest);
    }
    this.#turns.set(turns);
  }
}

const NONE: readonly LiveTurn[] = [];
