/** Signals of the open page: announcements and the document's title. */
import { Cell } from "../cell.ts";

const SHOWN_MS = 8_000;

interface Announcement {
  readonly text: string;
  /** Id of the run or turn that it is about. */
  readonly run: string | undefined;
}

/** Short announcements, shown for a few seconds and spoken by screen readers. */
export class Announcer {
  /** Undefined: nothing. */
  readonly said = new Cell<Announcement | undefined>(undefined);
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** If `run` is visible, the announcement is only for screen readers. */
  say(text: string, run?: string): void {
    clearTimeout(this.#timer);
    this.said.set({ text, run });
    this.#timer = setTimeout(() => this.said.set(undefined), SHOWN_MS);
  }
}

/** The document's title: the number of pending approvals, then the view. */
export class PageTitle {
  readonly #document: Pick<Document, "title">;
  readonly view = new Cell("");
  readonly waiting = new Cell(0);

  constructor(document: Pick<Document, "title">) {
    this.#document = document;
    this.view.follow(() => this.#show());
    this.waiting.follow(() => this.#show());
  }

  #show(): void {
    const name = this.view.value === "" ? "svc" : `${this.view.value} · svc`;
    const n = this.waiting.value;
    this.#document.title = n === 0 ? name : `(${n > 99 ? "99+" : n}) ${name}`;
  }
}
