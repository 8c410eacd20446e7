/** Whether the disk takes writes. After a refusal a tiny write tries again, so that a service nobody calls gets well too. */
import type { DatabaseSync } from "node:sqlite";
import type { Clock } from "@svc/contract";
import type { GroupCommit } from "./group-commit.ts";

const PROBE_EVERY_MS = 5_000;

export class DiskProbe {
  readonly #commits: GroupCommit;
  readonly #clock: Clock;
  readonly #touch;
  #probedAtMs = -Infinity;

  constructor(db: DatabaseSync, commits: GroupCommit, clock: Clock) {
    this.#commits = commits;
    this.#clock = clock;
    this.#touch = db.prepare(
      "INSERT INTO meta VALUES ('disk_probe', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    );
  }

  /** As the last write found it. */
  writable(): boolean {
    if (!this.#commits.writable) this.#probe();
    return this.#commits.writable;
  }

  #probe(): void {
    const nowMs = this.#clock.monotonic();
    if (nowMs - this.#probedAtMs < PROBE_EVERY_MS) return;
    this.#probedAtMs = nowMs;
    // What it finds is in `commits.writable`.
    this.#commits.write(() => this.#touch.run(String(this.#clock.now()))).catch(() => {});
  }
}
