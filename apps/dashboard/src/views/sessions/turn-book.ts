/** Running turns of all conversations: a page that opens one shows its text so far. */
import type { Live } from "../../live/live.ts";
import { Cell } from "../../state/cell.ts";
import { grown, type LiveTurn, type Place } from "./live-turns.ts";

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
        const name = event.payload["session_id"];
        if (typeof name !== "string") return;
        const device = event.payload["device"];
        const place = { name, device: typeof device === "string" ? device : null };
        this.#change(place, (turns) => grown(turns, event));
      },
    });
  }

  get cell(): Cell<Turns> {
    return this.#turns;
  }

  of(place: Place): readonly LiveTurn[] {
    return this.#turns.value.get(keyOf(place)) ?? NONE;
  }

  /** The conversation has them by now. */
  forget(place: Place, ids: ReadonlySet<string>): void {
    this.#change(place, (turns) =>
      turns.some(({ id }) => ids.has(id)) ? turns.filter(({ id }) => !ids.has(id)) : turns,
    );
  }

  clear(): void {
    this.#turns.set(new Map());
  }

  #change(place: Place, change: (turns: readonly LiveTurn[]) => readonly LiveTurn[]): void {
    const before = this.of(place);
    const after = change(before);
    if (after === before) return;
    const turns = new Map(this.#turns.value);
    if (after.length === 0) turns.delete(keyOf(place));
    else turns.set(keyOf(place), after);
    for (const oldest of turns.keys()) {
      if (turns.size <= MAX_CONVERSATIONS) break;
      turns.delete(oldest);
    }
    this.#turns.set(turns);
  }
}

const NONE: readonly LiveTurn[] = [];
const keyOf = ({ name, device }: Place): string => JSON.stringify([name, device]);
