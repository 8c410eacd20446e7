/** What is noted of attempts at a message while it waits. Everything here runs inside a transaction. */
import type { DatabaseSync } from "node:sqlite";
import type { ErrorCode } from "@svc/contract";

export class Attempts {
  readonly #begin;
  readonly #beginTraced;
  readonly #calledOff;
  readonly #failed;
  readonly #drafted;

  constructor(db: DatabaseSync) {
    this.#begin = db.prepare("UPDATE inbox_open SET begun = 1 WHERE n = ?");
    this.#beginTraced = db.prepare("UPDATE inbox_open SET begun = 1, traceparent = ? WHERE n = ?");
    this.#calledOff = db.prepare("UPDATE inbox_open SET begun = 0 WHERE n = ?");
    this.#failed = db.prepare("UPDATE inbox_open SET begun = 0, attempts = attempts + 1, error = ? WHERE n = ?");
    this.#drafted = db.prepare("UPDATE inbox_open SET draft = ? WHERE n = ?");
  }

  begin(n: number, waitTraceparent: string | undefined): void {
    if (waitTraceparent === undefined) this.#begin.run(n);
    else this.#beginTraced.run(waitTraceparent, n);
  }

  calledOff(n: number): void {
    this.#calledOff.run(n);
  }

  failed(n: number, code: ErrorCode): boolean {
    return Number(this.#failed.run(code, n).changes) > 0;
  }

  drafted(n: number, platformId: string): void {
    this.#drafted.run(platformId, n);
  }
}
