/** Short announcements: shown for a while, and read out by screen readers. */
import { Cell } from "../state/cell.ts";

const SHOWN_MS = 8_000;

interface Said {
  readonly text: string;
  /** Of the run or turn that it is about. */
  readonly run: string | undefined;
}

export class Announcer {
  /** Undefined: nothing. */
  readonly said = new Cell<Said | undefined>(undefined);
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Where `run` is in sight, it is only read out. */
  say(text: string, run?: string): void {
    clearTimeout(this.#timer);
    this.said.set({ text, run });
    this.#timer = setTimeout(() => this.said.set(undefined), SHOWN_MS);
  }
}
