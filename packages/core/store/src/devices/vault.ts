/** Sealed texts by owner and name. What they say is never known here; whoever keeps one seals and opens it. */
import type { DatabaseSync } from "node:sqlite";
import { type ClientId, SvcError } from "@svc/contract";
import type { GroupCommit } from "../engine/group-commit.ts";
import { rowsOf } from "../rows.ts";

export interface SealedText {
  readonly owner: string;
  readonly name: string;
  readonly sealed: string;
}

/** Who owns what a feature keeps of one client. A feature's id has no `/`, so that nobody can be called to be another. */
export const ownerOfClient = (feature: string, clientId: ClientId): string => `${feature}/${clientId}`;

/** All that any feature keeps of a client. */
export const DELETE_OF_CLIENT =
  "DELETE FROM vault WHERE instr(owner, '/') > 0 AND substr(owner, instr(owner, '/') + 1) = ?";

export class VaultStore {
  readonly #commits: GroupCommit;
  readonly #get;
  readonly #set;
  readonly #delete;
  readonly #list;
  readonly #all;

  constructor(db: DatabaseSync, commits: GroupCommit) {
    this.#commits = commits;
    this.#get = db.prepare("SELECT sealed FROM vault WHERE owner = ? AND name = ?");
    this.#set = db.prepare(
      "INSERT INTO vault VALUES (?, ?, ?) ON CONFLICT (owner, name) DO UPDATE SET sealed = excluded.sealed",
    );
    this.#delete = db.prepare("DELETE FROM vault WHERE owner = ? AND name = ?");
    this.#list = db.prepare(
      "SELECT name FROM vault WHERE owner = ? AND substr(name, 1, length(?2)) = ?2 ORDER BY name",
    );
    this.#all = db.prepare("SELECT owner, name, sealed FROM vault ORDER BY owner, name");
  }

  get(owner: string, name: string): string | undefined {
    return (this.#get.get(owner, name) as { sealed: string } | undefined)?.sealed;
  }

  /**
   * Resolves once it is on disk. `seal` is called in the transaction that keeps its result, so that a text can't be
   * sealed with a key that a rotation replaces before it is kept. Rejects with STORE_* and what `seal` throws.
   */
  async set(owner: string, name: string, seal: () => string): Promise<void> {
    await this.#commits.write(() => this.#set.run(owner, name, seal()));
  }

  /** Resolves with whether there was one, once it is gone from disk. */
  async delete(owner: string, name: string): Promise<boolean> {
    const { changes } = await this.#commits.write(() => this.#delete.run(owner, name));
    return Number(changes) > 0;
  }

  /** Names in order, those that begin with `prefix`. */
  list(owner: string, prefix: string): string[] {
    return (this.#list.all(owner, prefix) as { name: string }[]).map((row) => row.name);
  }

  all(): SealedText[] {
    return rowsOf<SealedText>(this.#all.all());
  }

  /**
   * Seals everything anew, in one transaction: all or nothing. Rejects with STORE_*, with SECRET_UNREADABLE naming what
   * `open` does not open, and with what `seal` throws.
   */
  async reseal(open: (sealed: string) => string, seal: (text: string) => string): Promise<void> {
    await this.#commits.write(() => {
      for (const each of this.all()) this.#set.run(each.owner, each.name, seal(opened(each, open)));
    });
  }
}

/** Nobody could fix what is not named. */
function opened({ owner, name, sealed }: SealedText, open: (sealed: string) => string): string {
  try {
    return open(sealed);
  } catch (cause) {
    throw new SvcError(
      "SECRET_UNREADABLE",
      `What ${owner} keeps under the name ${JSON.stringify(name)} can't be opened.`,
      {
        cause,
        hint: "Restore the key file that it was sealed with.",
      },
    );
  }
}
