/** Sign-ins of the page on a disk that may refuse. */
import type { PageSession } from "@svc/store";
import type { PageSessionStore } from "../src/index.ts";

export class FakePageSessions implements PageSessionStore {
  rows: PageSession[] = [];
  /** As long as it is set, nothing can be written. */
  fails: Error | undefined;
  /** As long as it is set, what is added waits for it. */
  slowAdd: Promise<void> | undefined;
  touched: readonly (readonly [idHash: string, atMs: number])[] = [];

  all(): readonly PageSession[] {
    return [...this.rows];
  }

  async add(session: PageSession): Promise<void> {
    await (this.slowAdd ?? written());
    if (this.fails) throw this.fails;
    this.rows.push(session);
  }

  async remove(idHash: string): Promise<void> {
    await written();
    if (this.fails) throw this.fails;
    this.rows = this.rows.filter((row) => row.idHash !== idHash);
  }

  touch(idHash: string, atMs: number): void {
    this.touched = [...this.touched, [idHash, atMs]];
    this.rows = this.rows.map((row) => (row.idHash === idHash ? { ...row, seenAtMs: atMs } : row));
  }
}

const written = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
