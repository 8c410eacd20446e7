/** How many messages ended well: a number kept by hand, because to count a million of them takes 30 ms. */
import type { DatabaseSync } from "node:sqlite";

type BoxName = "inbox" | "outbox";

export class Tally {
  /** Of the open transaction. */
  #added: Record<BoxName, number> = { inbox: 0, outbox: 0 };
  readonly #read;
  readonly #write;

  constructor(db: DatabaseSync) {
    this.#read = db.prepare("SELECT n FROM ended_well WHERE box = ?");
    this.#write = db.prepare("INSERT INTO ended_well VALUES (?, ?) ON CONFLICT (box) DO UPDATE SET n = n + excluded.n");
  }

  of(box: BoxName): number {
    return ((this.#read.get(box) as { n: number } | undefined)?.n ?? 0) + this.#added[box];
  }

  /** Inside a transaction. */
  add(box: BoxName, count: number): void {
    this.#added[box] += count;
  }

  /** Before a commit: writes what its transaction added. */
  flush(): void {
    for (const box of ["inbox", "outbox"] as const) if (this.#added[box] !== 0) this.#write.run(box, this.#added[box]);
    this.discard();
  }

  /** The transaction was undone. */
  discard(): void {
    this.#added = { inbox: 0, outbox: 0 };
  }
}
