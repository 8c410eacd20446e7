/** What is told in passing: shown for a while, and read out to who does not look. */
import { Cell } from "../state/cell.ts";

const SHOWN_MS = 8_000;

export class Announcer {
  /** Empty: nothing. */
  readonly said = new Cell("");
  #timer: ReturnType<typeof setTimeout> | undefined;

  say(text: string): void {
    clearTimeout(this.#timer);
    this.said.set(text);
    this.#timer = setTimeout(() => this.said.set(""), SHOWN_MS);
  }
}
