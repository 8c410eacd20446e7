/** Conversations that are too old, or too many: they go at once, and their turns a few at a time. */
import type { DatabaseSync } from "node:sqlite";
import type { ClientId } from "@svc/contract";
import type { ConversationStore } from "./conversations.ts";
import { type SessionActivity, SessionFiles } from "./sessions.ts";
import type { SearchIndex } from "./search-index.ts";
import { rowsOf } from "../rows.ts";

/** Most of one step. */
const STEP = { sessions: 200, turns: 200, turnBytes: 1_048_576 } as const;

/** Where a page of sessions begins, and which of them stay. */
export interface Below {
  readonly before: number;
  readonly oldestMs: number;
  readonly room: number;
}

export interface SessionPage {
  readonly kept: number;
  readonly dropped: number;
  /** Where the next page begins; undefined: this was the last. */
  readonly before: number | undefined;
}

export interface OldSessionsDeps {
  readonly conversations: ConversationStore;
  readonly activity: SessionActivity;
  readonly search: SearchIndex;
}

export class OldSessions {
  readonly #conversations: ConversationStore;
  readonly #activity: SessionActivity;
  readonly #search: SearchIndex;
  readonly #byActivity;
  readonly #dropSession;
  readonly #endGrants;
  readonly #files: SessionFiles;
  readonly #insertChain;
  readonly #nextChain;
  readonly #deleteChain;
  readonly #deleteTurn;

  constructor(db: DatabaseSync, { conversations, activity, search }: OldSessionsDeps) {
    this.#conversations = conversations;
    this.#activity = activity;
    this.#search = search;
    this.#byActivity = db.prepare(
      `SELECT n, client_id AS owner, name, last_turn AS lastTurn, updated_at AS updatedAt FROM sessions
       WHERE listed_turn > 0 AND listed_turn < ? AND pinned_at IS NULL ORDER BY listed_turn DESC LIMIT ${STEP.sessions}`,
    );
    this.#dropSession = db.prepare("DELETE FROM sessions WHERE n = ?");
    this.#endGrants = db.prepare("DELETE FROM grants WHERE owner = ? AND name = ?");
    this.#files = new SessionFiles(db);
    this.#insertChain = db.prepare("INSERT INTO dropped_chains VALUES (?)");
    this.#nextChain = db.prepare("SELECT last_turn AS lastTurn FROM dropped_chains LIMIT 1");
    this.#deleteChain = db.prepare("DELETE FROM dropped_chains WHERE last_turn = ?");
    this.#deleteTurn = db.prepare("DELETE FROM turns WHERE n = ? RETURNING previous, octet_length(messages) AS bytes");
  }

  /**
   * Inside a transaction. Those that a person pinned stay, and take no room of the others. A dropped session is gone at once, with what was chosen and allowed in it; its turns are left to the sweep,
   * which survives a restart.
   */
  dropPage(below: Below): SessionPage {
    this.#activity.update();
    const page = rowsOf<SessionRow>(this.#byActivity.all(below.before));
    let kept = 0;
    for (const { n, owner, name, lastTurn, updatedAt } of page) {
      if (updatedAt >= below.oldestMs && kept < below.room) {
        kept += 1;
      } else {
        this.#insertChain.run(lastTurn);
        this.#dropSession.run(n);
        this.#conversations.forget(owner, name);
        this.#endGrants.run(owner, name);
        this.#files.disown(owner, name);
      }
    }
    return {
      kept,
      dropped: page.length - kept,
      before: page.length === STEP.sessions ? page.at(-1)!.lastTurn : undefined,
    };
  }

  /** Inside a transaction: deletes some turns of dropped sessions; tells how many. */
  sweep(): number {
    let turns = 0;
    let bytes = 0;
    while (turns < STEP.turns && bytes < STEP.turnBytes) {
      const chain = this.#nextChain.get() as { lastTurn: number } | undefined;
      if (!chain) break;
      let next: number | null = chain.lastTurn;
      while (next !== null && turns < STEP.turns && bytes < STEP.turnBytes) {
        this.#search.remove(next);
        const gone: { previous: number | null; bytes: number } | undefined = this.#deleteTurn.get(next) as
          | { previous: number | null; bytes: number }
          | undefined;
        turns += 1;
        bytes += gone?.bytes ?? 0;
        next = gone?.previous ?? null;
      }
      this.#deleteChain.run(chain.lastTurn);
      if (next !== null) this.#insertChain.run(next);
    }
    return turns;
  }
}

interface SessionRow {
  readonly n: number;
  readonly owner: ClientId;
  readonly name: string;
  readonly lastTurn: number;
  readonly updatedAt: number;
}
