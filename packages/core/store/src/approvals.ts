/** What waits, or waited, for a person's approval, and grants. An approval stops waiting only by an end that is stored, once. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { ApprovalOrigin, ClientId, Conversation, Json } from "@svc/contract";
import { rowsOf } from "./rows.ts";

export type ApprovalStatus = "waiting" | "approved" | "rejected" | "expired" | "cancelled";

/** One thing that waits, or waited, for a person's yes. (`runId`, `stepId`) is unique. */
export interface Approval {
  /** Order of being asked. People call it `#12`. */
  readonly n: number;
  readonly runId: string;
  readonly stepId: string;
  readonly origin: ApprovalOrigin;
  readonly title: string;
  readonly message: string;
  readonly approveKeywords: readonly string[];
  readonly rejectKeywords: readonly string[];
  /** As the sender named them; of an `external` one. */
  readonly channels: readonly string[];
  /** For a person: who wants it. */
  readonly askedBy: string;
  /** What tells this request from another one with the same key: hex SHA-256 of all that was asked. */
  readonly digest: string;
  readonly status: ApprovalStatus;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  /** Where the prompt went. */
  readonly prompts: readonly ApprovalPrompt[];
  /** Once it is no longer waiting. */
  readonly answer: ApprovalAnswer | undefined;
  /** Id of the event that told of it. */
  readonly eventId: string | undefined;
  /** Of a tool call: what it would do, for people, without secrets. */
  readonly detail?: Json;
  /** Of a tool call: for how long a yes may hold, and for what. */
  readonly offers?: ApprovalOffers;
}

export interface ApprovalOffers {
  readonly conversation?: OfferedPattern & { readonly place: GrantPlace };
  /** `rule`: as the config has it. */
  readonly always?: OfferedPattern & { readonly rule: Json };
  /** Why one is missing, as a sentence. */
  readonly reason?: string;
}

export interface OfferedPattern {
  readonly key: string;
  /** For the person who chooses it. */
  readonly text: string;
}

/** Where a yes holds: in a conversation, for one who speaks there, and one agent. */
export interface GrantPlace {
  readonly owner: ClientId;
  /** What the owner calls the conversation. */
  readonly name: string;
  /** Empty: whoever has the conversation. */
  readonly sender: string;
  readonly agent: string;
}

/** `once`: for this call. */
export type ApprovalHold = "once" | "conversation" | "always";

export interface ApprovalPrompt {
  readonly conversation: Conversation;
  /** What the question opened there, a thread or a chat: answers count in it too. */
  readonly opened: Conversation | undefined;
  /** Of the outbox row. */
  readonly delivery: number;
}

export interface ApprovalAnswer {
  readonly feedback: string | undefined;
  /** For a person: who answered, or why nobody did. */
  readonly by: string;
  readonly via: "chat" | "api" | "page" | "cli" | "agent" | "service";
  readonly atMs: number;
  /** Of a yes: for how long. Default: once. */
  readonly holds?: ApprovalHold | undefined;
}

export type NewApproval = Omit<Approval, "n" | "status" | "prompts" | "answer" | "eventId">;

export interface StoredApprovalFilter {
  readonly status?: ApprovalStatus;
  readonly runId?: string;
  /** Only those with a smaller number. */
  readonly before?: number;
}

export class ApprovalStore {
  readonly #db: DatabaseSync;
  readonly #prompts: ApprovalPrompts;
  readonly #insert;
  readonly #settle;
  readonly #announced;
  readonly #read;
  readonly #byKey;
  readonly #due;
  readonly #nextExpiry;
  readonly #endedSince;
  readonly #countWaiting;
  readonly #old;
  readonly #drop;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#prompts = new ApprovalPrompts(db);
    this.#insert = db.prepare(
      `INSERT INTO approvals (run_id, step_id, origin, digest, created_at, expires_at, asked_by, approve_keywords,
         reject_keywords, channels, title, message, detail, offers)
       VALUES (?, ?, ?, unhex(?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#settle = db.prepare(
      `UPDATE approvals SET status = ?, ended_at = ?, ended_by = ?, via = ?, feedback = ?, held = ?
       WHERE n = ? AND status = 'waiting'`,
    );
    this.#announced = db.prepare("UPDATE approvals SET event_id = ? WHERE n = ?");
    this.#read = db.prepare(`SELECT ${APPROVAL_COLUMNS} FROM approvals WHERE n = ?`);
    this.#byKey = db.prepare(`SELECT ${APPROVAL_COLUMNS} FROM approvals WHERE run_id = ? AND step_id = ?`);
    this.#due = db.prepare(
      `SELECT n FROM approvals INDEXED BY approvals_by_expiry
       WHERE status = 'waiting' AND expires_at <= ? ORDER BY expires_at LIMIT ?`,
    );
    this.#nextExpiry = db.prepare(
      "SELECT min(expires_at) AS at FROM approvals INDEXED BY approvals_by_expiry WHERE status = 'waiting'",
    );
    this.#endedSince = db.prepare("SELECT n FROM approvals WHERE ended_at >= ? ORDER BY ended_at DESC LIMIT ?");
    this.#countWaiting = db.prepare("SELECT count(*) AS n FROM approvals WHERE status = 'waiting'");
    this.#old = db.prepare("SELECT n FROM approvals WHERE ended_at < ? ORDER BY ended_at LIMIT ?");
    this.#drop = db.prepare("DELETE FROM approvals WHERE n = ?");
  }

  /** Inside a transaction: it waits. Returns its number. Throws when its key is taken. */
  add(approval: NewApproval): number {
    const { lastInsertRowid } = this.#insert.run(
      approval.runId,
      approval.stepId,
      approval.origin,
      approval.digest,
      approval.createdAtMs,
      approval.expiresAtMs,
      approval.askedBy,
      JSON.stringify(approval.approveKeywords),
      JSON.stringify(approval.rejectKeywords),
      JSON.stringify(approval.channels),
      approval.title,
      approval.message,
      approval.detail === undefined ? null : JSON.stringify(approval.detail),
      approval.offers === undefined ? null : JSON.stringify(approval.offers),
    );
    return Number(lastInsertRowid);
  }

  /** Inside a transaction: it is asked there, by this row of the outbox. */
  addPrompt(n: number, conversation: Conversation, delivery: number): void {
    this.#prompts.add(n, conversation, delivery);
  }

  /**
   * Inside a transaction: the question that this row of the outbox asked has opened a conversation, and answers count in it too.
   * One on another channel is none. Tells whether the row asks a question.
   */
  setOpened(delivery: number, opened: Conversation): boolean {
    return this.#prompts.setOpened(delivery, opened);
  }

  /** Inside a transaction. Tells whether it waited: only the first end counts. */
  settle(n: number, status: Exclude<ApprovalStatus, "waiting">, answer: ApprovalAnswer): boolean {
    const { feedback, by, via, atMs, holds } = answer;
    const { changes } = this.#settle.run(status, atMs, by, via, feedback ?? null, holds ?? null, n);
    if (Number(changes) === 0) return false;
    this.#prompts.close(n);
    return true;
  }

  /** Inside a transaction: the event that told of it. */
  announced(n: number, eventId: string): void {
    this.#announced.run(eventId, n);
  }

  read(n: number): Approval | undefined {
    return this.#whole(this.#read.get(n));
  }

  byKey(runId: string, stepId: string): Approval | undefined {
    return this.#whole(this.#byKey.get(runId, stepId));
  }

  /** The first of those that can be answered in this conversation, in the order they were asked. */
  waitingIn(conversation: Conversation, limit = 1_000): Approval[] {
    return this.#prompts.openIn(conversation, limit).flatMap((n) => this.read(n) ?? []);
  }

  /** Those that wait and whose time is over, the earliest first. */
  due(nowMs: number, limit: number): Approval[] {
    return this.#some(this.#due, nowMs, limit);
  }

  /** When the next one's time is over; Infinity when none waits. */
  nextExpiryMs(): number {
    return (this.#nextExpiry.get() as { at: number | null }).at ?? Infinity;
  }

  /** The last first. */
  endedSince(sinceMs: number, limit: number): Approval[] {
    return this.#some(this.#endedSince, sinceMs, limit);
  }

  /** Newest first. */
  list({ status, runId, before = Number.MAX_SAFE_INTEGER }: StoredApprovalFilter, limit: number): Approval[] {
    // What has a plus sign before it is no reason for SQLite to use an index.
    const isStatus = runId === undefined ? "status = :status" : "+status = :status";
    const conditions = [runId !== undefined && "run_id = :runId", status !== undefined && isStatus, "n < :before"];
    const statement = this.#db.prepare(
      `SELECT ${APPROVAL_COLUMNS} FROM approvals WHERE ${conditions.filter(Boolean).join(" AND ")}
       ORDER BY n DESC LIMIT :limit`,
    );
    statement.setAllowUnknownNamedParameters(true);
    const rows = statement.all({ runId: runId ?? null, status: status ?? null, before, limit });
    return rows.flatMap((row) => this.#whole(row) ?? []);
  }

  countWaiting(): number {
    return (this.#countWaiting.get() as { n: number }).n;
  }

  /** Inside a transaction: deletes at most `limit` of those that ended before `beforeMs`; tells how many. */
  dropOld(beforeMs: number, limit: number): number {
    const old = this.#old.all(beforeMs, limit) as { n: number }[];
    for (const { n } of old) {
      this.#prompts.drop(n);
      this.#drop.run(n);
    }
    return old.length;
  }

  #some(numbers: StatementSync, ...values: number[]): Approval[] {
    return (numbers.all(...values) as { n: number }[]).flatMap(({ n }) => this.read(n) ?? []);
  }

  #whole(row: unknown): Approval | undefined {
    if (row === undefined) return undefined;
    const approval = row as ApprovalRow;
    return approvalOf(approval, this.#prompts.of(approval.n));
  }
}

/** Where approvals were asked: in a conversation, by a row of the outbox, and in the one that was opened for it there. */
class ApprovalPrompts {
  readonly #insert;
  readonly #setOpened;
  readonly #close;
  readonly #of;
  readonly #openIn;
  readonly #drop;

  constructor(db: DatabaseSync) {
    this.#insert = db.prepare(
      "INSERT INTO approval_prompts (delivery, approval, channel, chat, thread) VALUES (?, ?, ?, ?, ?)",
    );
    this.#setOpened = db.prepare(
      "UPDATE approval_prompts SET opened_chat = ?, opened_thread = ? WHERE delivery = ? AND channel = ?",
    );
    this.#close = db.prepare("UPDATE approval_prompts SET is_open = 0 WHERE approval = ?");
    this.#of = db.prepare(
      `SELECT delivery, channel, chat, thread, opened_chat, opened_thread FROM approval_prompts
       WHERE approval = ? ORDER BY delivery`,
    );
    this.#openIn = db.prepare(
      `SELECT approval AS n FROM approval_prompts WHERE is_open = 1 AND channel = ?1 AND chat = ?2 AND thread IS ?3
       UNION SELECT approval FROM approval_prompts
       WHERE is_open = 1 AND channel = ?1 AND opened_chat = ?2 AND opened_thread IS ?3 ORDER BY n LIMIT ?4`,
    );
    this.#drop = db.prepare("DELETE FROM approval_prompts WHERE approval = ?");
  }

  /** Inside a transaction. */
  add(approval: number, { channel, id, thread }: Conversation, delivery: number): void {
    this.#insert.run(delivery, approval, channel, id, thread ?? null);
  }

  /** Inside a transaction. One on another channel is none. Tells whether the row of the outbox asks a question. */
  setOpened(delivery: number, { channel, id, thread }: Conversation): boolean {
    return Number(this.#setOpened.run(id, thread ?? null, delivery, channel).changes) > 0;
  }

  /** Inside a transaction: nothing answers it any more. */
  close(approval: number): void {
    this.#close.run(approval);
  }

  of(approval: number): PromptRow[] {
    return rowsOf<PromptRow>(this.#of.all(approval));
  }

  /** The first of the approvals that are open in this conversation, ascending. */
  openIn({ channel, id, thread }: Conversation, limit: number): number[] {
    return (this.#openIn.all(channel, id, thread ?? null, limit) as { n: number }[]).map(({ n }) => n);
  }

  /** Inside a transaction. */
  drop(approval: number): void {
    this.#drop.run(approval);
  }
}

/** An approval as the database has it, and as others see it. */
const APPROVAL_COLUMNS = `n, run_id, step_id, origin, status, lower(hex(digest)) AS digest, created_at, expires_at, asked_by,
  approve_keywords, reject_keywords, channels, title, message, event_id, ended_at, ended_by, via, feedback,
  detail, offers, held`;

interface ApprovalRow {
  n: number;
  run_id: string;
  step_id: string;
  origin: ApprovalOrigin;
  status: ApprovalStatus;
  digest: string;
  created_at: number;
  expires_at: number;
  asked_by: string;
  approve_keywords: string;
  reject_keywords: string;
  channels: string;
  title: string;
  message: string;
  event_id: string | null;
  ended_at: number | null;
  ended_by: string | null;
  via: ApprovalAnswer["via"] | null;
  feedback: string | null;
  detail: string | null;
  offers: string | null;
  held: ApprovalAnswer["holds"] | null;
}

interface PromptRow {
  delivery: number;
  channel: string;
  chat: string;
  thread: string | null;
  opened_chat: string | null;
  opened_thread: string | null;
}

const approvalOf = (row: ApprovalRow, prompts: readonly PromptRow[]): Approval => ({
  n: row.n,
  runId: row.run_id,
  stepId: row.step_id,
  origin: row.origin,
  title: row.title,
  message: row.message,
  approveKeywords: JSON.parse(row.approve_keywords) as string[],
  rejectKeywords: JSON.parse(row.reject_keywords) as string[],
  channels: JSON.parse(row.channels) as string[],
  askedBy: row.asked_by,
  digest: row.digest,
  status: row.status,
  createdAtMs: row.created_at,
  expiresAtMs: row.expires_at,
  prompts: prompts.map(promptOf),
  answer:
    row.ended_at === null
      ? undefined
      : {
          feedback: row.feedback ?? undefined,
          by: row.ended_by!,
          via: row.via!,
          atMs: row.ended_at,
          holds: row.held ?? undefined,
        },
  ...(row.detail !== null && { detail: JSON.parse(row.detail) as Json }),
  ...(row.offers !== null && { offers: JSON.parse(row.offers) as ApprovalOffers }),
  eventId: row.event_id ?? undefined,
});

const promptOf = (row: PromptRow): ApprovalPrompt => ({
  conversation: conversationOf(row.channel, row.chat, row.thread),
  opened: row.opened_chat === null ? undefined : conversationOf(row.channel, row.opened_chat, row.opened_thread),
  delivery: row.delivery,
});

const conversationOf = (channel: string, id: string, thread: string | null): Conversation => ({
  channel,
  id,
  ...(thread !== null && { thread }),
});

/** Yeses that hold for the rest of a conversation. Whatever ends it ends them, in the same transaction. */
export interface Grant extends GrantPlace, OfferedPattern {
  /** Number of the approval that gave it. */
  readonly approval: number;
  readonly atMs: number;
}

export class GrantStore {
  readonly #add;
  readonly #has;
  readonly #list;
  readonly #end;
  readonly #dropOld;

  constructor(db: DatabaseSync) {
    this.#add = db.prepare("INSERT OR REPLACE INTO grants VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
    this.#has = db.prepare(
      "SELECT 1 FROM grants WHERE owner = ? AND name = ? AND sender = ? AND agent = ? AND key = ?",
    );
    this.#list = db.prepare(
      `SELECT owner, name, sender, agent, key, approval, text, at AS atMs FROM grants
       WHERE owner = ? AND name = ? ORDER BY at, key`,
    );
    this.#end = db.prepare("DELETE FROM grants WHERE owner = ? AND name = ?");
    this.#dropOld = db.prepare(
      `DELETE FROM grants WHERE (owner, name, sender, agent, key) IN
         (SELECT owner, g.name, sender, agent, key FROM grants AS g WHERE at < ?
            AND NOT EXISTS (SELECT 1 FROM sessions AS s WHERE s.client_id = g.owner AND s.name = g.name) LIMIT ?)`,
    );
  }

  /** Inside a transaction. */
  add({ owner, name, sender, agent, key, approval, text, atMs }: Grant): void {
    this.#add.run(owner, name, sender, agent, key, approval, text, atMs);
  }

  has({ owner, name, sender, agent }: GrantPlace, key: string): boolean {
    return this.#has.get(owner, name, sender, agent, key) !== undefined;
  }

  /** The oldest first. */
  list(owner: ClientId, name: string): Grant[] {
    return rowsOf<Grant>(this.#list.all(owner, name));
  }

  /** Inside a transaction: the conversation is over, or begins anew. */
  end(owner: ClientId, name: string): void {
    this.#end.run(owner, name);
  }

  /** Inside a transaction: some of before `beforeMs` where no conversation is kept; tells how many. */
  dropOld(beforeMs: number, limit: number): number {
    return Number(this.#dropOld.run(beforeMs, limit).changes);
  }
}
