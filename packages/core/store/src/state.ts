/** Plain texts by owner and name: where a feature goes on after a restart. */
import type { DatabaseSync } from "node:sqlite";
import type { GroupCommit } from "./group-commit.ts";

export class StateTexts {
  readonly #commits: GroupCommit;
  readonly #get;
  readonly #set;
  readonly #delete;
  readonly #list;

  constructor(db: DatabaseSync, commits: GroupCommit) {
    this.#commits = commits;
    this.#get = db.prepare("SELECT value FROM state WHERE owner = ? AND name = ?");
    this.#set = db.prepare(
      "INSERT INTO state VALUES (?, ?, ?) ON CONFLICT (owner, name) DO UPDATE SET value = excluded.value",
    );
    this.#delete = db.prepare("DELETE FROM state WHERE owner = ? AND name = ?");
    this.#list = db.prepare(
      "SELECT name FROM state WHERE owner = ? AND substr(name, 1, length(?2)) = ?2 ORDER BY name",
    );
  }

  get(owner: string, name: string): string | undefined {
    return (this.#get.get(owner, name) as { value: string } | undefined)?.value;
  }

  /** Resolves once it is on disk. Rejects with STORE_*. */
  async set(owner: string, name: string, value: string): Promise<void> {
    await this.#commits.write(() => this.#set.run(owner, name, value));
  }

  /** Inside a transaction. */
  setIn(owner: string, name: string, value: string): void {
    this.#set.run(owner, name, value);
  }

  /** Inside a transaction. */
  deleteIn(owner: string, name: string): void {
    this.#delete.run(owner, name);
  }

  /** Resolves with whether there was one, once it is gone from disk. Rejects with STORE_*. */
  async delete(owner: string, name: string): Promise<boolean> {
    const { changes } = await this.#commits.write(() => this.#delete.run(owner, name));
    return Number(changes) > 0;
  }

  /** Names in order, those that begin with `prefix`. */
  list(owner: string, prefix: string): string[] {
    return (this.#list.all(owner, prefix) as { name: string }[]).map((row) => row.name);
  }
}
