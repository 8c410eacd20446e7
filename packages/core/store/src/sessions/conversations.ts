/** Conversations beside their sessions: what people chose in them, and which are known. */
import type { DatabaseSync } from "node:sqlite";
import type { ClientId } from "@svc/contract";

/** Conversations whose choices are remembered. Each turn asks, and a read outside a transaction takes locks. */
const REMEMBERED = 1_000;

/** What people chose in their conversations. It outlives the session in them: one that begins anew has the same model. */
export class ConversationStore {
  readonly #find;
  readonly #choose;
  readonly #forget;
  readonly #forgetIn;
  readonly #dropOld;
  readonly #remembered = new Map<string, Choice>();

  constructor(db: DatabaseSync) {
    this.#find = db.prepare("SELECT model, agent FROM conversations WHERE owner = ? AND name = ?");
    this.#choose = db.prepare(
      `INSERT INTO conversations (owner, name, model, agent, chosen_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (owner, name) DO UPDATE
         SET model = excluded.model, agent = excluded.agent, chosen_at = excluded.chosen_at`,
    );
    this.#forget = db.prepare("DELETE FROM conversations WHERE owner = ? AND name = ?");
    this.#forgetIn = db.prepare(
      "DELETE FROM conversations WHERE (owner, name) IN (SELECT client_id, name FROM sessions WHERE id = ?)",
    );
    this.#dropOld = db.prepare(
      `DELETE FROM conversations WHERE (owner, name) IN
         (SELECT owner, c.name FROM conversations AS c WHERE chosen_at < ?
            AND NOT EXISTS (SELECT 1 FROM sessions AS s WHERE s.client_id = c.owner AND s.name = c.name) LIMIT ?)`,
    );
  }

  /** Name of the model that was chosen there; undefined: none was. */
  modelOf(owner: ClientId, name: string): string | undefined {
    return this.choiceOf(owner, name).model;
  }

  /** What was chosen there. */
  choiceOf(owner: ClientId, name: string): Choice {
    const key = `${owner}\n${name}`;
    const known = this.#remembered.get(key);
    if (known !== undefined) return known;
    const row = this.#find.get(owner, name) as { model: string; agent: string | null } | undefined;
    const choice = { model: row?.model || undefined, agent: row?.agent ?? undefined };
    if (this.#remembered.size >= REMEMBERED) this.#remembered.clear();
    this.#remembered.set(key, choice);
    return choice;
  }

  /** A transaction was undone. */
  onRollback(): void {
    this.#remembered.clear();
  }

  /** Inside a transaction. Undefined: whatever the config says. The agent stays. */
  choose(owner: ClientId, name: string, model: string | undefined, nowMs: number): void {
    this.#write(owner, name, { model, agent: this.choiceOf(owner, name).agent }, nowMs);
  }

  /** Inside a transaction. Undefined: whatever the config says. A model is chosen of an agent: another agent has its own. */
  chooseAgent(owner: ClientId, name: string, agent: string | undefined, nowMs: number): void {
    this.#write(owner, name, { model: undefined, agent }, nowMs);
  }

  #write(owner: ClientId, name: string, { model, agent }: Choice, nowMs: number): void {
    if (model === undefined && agent === undefined) this.forget(owner, name);
    else {
      this.#remembered.clear();
      this.#choose.run(owner, name, model ?? "", agent ?? null, nowMs);
    }
  }

  /** Inside a transaction. */
  forget(owner: ClientId, name: string): void {
    this.#remembered.clear();
    this.#forget.run(owner, name);
  }

  /** Inside a transaction: what was chosen in a conversation, by its id. */
  forgetIn(id: string): void {
    this.#remembered.clear();
    this.#forgetIn.run(id);
  }

  /** Inside a transaction: forgets some choices from before `beforeMs` where no conversation is kept; tells how many. */
  dropOld(beforeMs: number, limit: number): number {
    this.#remembered.clear();
    return Number(this.#dropOld.run(beforeMs, limit).changes);
  }
}

/** What was chosen in a conversation; undefined: whatever the config says. */
export interface Choice {
  readonly model: string | undefined;
  readonly agent: string | undefined;
}

/** Where people have written, as far as it is remembered: there is a session, or their message waits or is being answered. */
export class KnownConversations {
  readonly #any;

  constructor(db: DatabaseSync) {
    // What waits is little; of the sessions of years only those in between are looked at.
    this.#any = db.prepare(`
      SELECT EXISTS (SELECT 1 FROM sessions WHERE client_id = ?1 AND name >= ?2 AND name < ?3)
        OR EXISTS (SELECT 1 FROM inbox_open JOIN inbox USING (n)
          WHERE kind = 'message' AND conversation_key >= ?2 AND conversation_key < ?3) AS found`);
  }

  /** Whether one of these conversations is: `from` ≤ key < `before`, by the order of their bytes. `owner`: of its sessions. */
  any(owner: ClientId, { from, before }: { readonly from: string; readonly before: string }): boolean {
    return (this.#any.get(owner, from, before) as { found: number }).found === 1;
  }
}
