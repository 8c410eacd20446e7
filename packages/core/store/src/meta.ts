/** Single facts about this home, by name. */
import type { DatabaseSync } from "node:sqlite";
import type { GroupCommit } from "./group-commit.ts";

export class MetaStore {
  readonly #commits: GroupCommit;
  readonly #get;
  readonly #insert;

  constructor(db: DatabaseSync, commits: GroupCommit) {
    this.#commits = commits;
    this.#get = db.prepare("SELECT value FROM meta WHERE key = ?");
    this.#insert = db.prepare("INSERT OR IGNORE INTO meta VALUES (?, ?)");
  }

  get(key: string): string | undefined {
    return (this.#get.get(key) as { value: string } | undefined)?.value;
  }

  /** The value under `key`; what `make` gives becomes it, for good, when there is none. */
  async getOrMake(key: string, make: () => string): Promise<string> {
    const known = this.get(key);
    if (known !== undefined) return known;
    await this.#commits.write(() => this.#insert.run(key, make()));
    return this.get(key)!;
  }
}
