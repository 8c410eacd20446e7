/** The document's title: the number of pending approvals, then the view. */
import { Cell } from "../state/cell.ts";

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
