/** Whether a database is sound. Reads on a connection of its own, so a daemon may be running on the file. */
import { DatabaseSync } from "node:sqlite";
import { type Clock, SvcError } from "@svc/contract";
import {
  FIRST_WITH_APPROVALS,
  FIRST_WITH_MESSAGES,
  SCHEMA_VERSION,
  migrate,
  newer,
  schemaVersion,
} from "./migrations.ts";
import { isBusy, isDamage, storeError } from "./sqlite-error.ts";
import { verifyAudit } from "../audit.ts";
import { setImmediate as nextTurn } from "node:timers/promises";
import { SEEN_ROWS } from "../messages/dedupe.ts";

/** Rows of one step. */
const PAGE = 5000;

export interface DatabaseReport {
  /** Steps of the schema that it has; undefined when that can't be read. */
  readonly schema: number | undefined;
  /** Sentences, without anything of what the database holds. None: it is sound, as far as was looked. */
  readonly problems: readonly string[];
  /** False: the time was up before everything was looked at. */
  readonly complete: boolean;
}

export interface DatabaseCheck {
  /** Leaves out whether every index says what its table says, which takes several times as long. */
  readonly quick: boolean;
  /** When to stop, however much is left. Without it everything is looked at. */
  readonly limitMs?: number;
  readonly clock: Pick<Clock, "monotonic">;
}

/** What a slow disk reads. SQLite's own check can't be stopped half-way: it is begun only if it will end in time. */
const BYTES_PER_MS = 100_000;
const MAX_PROBLEMS = 10;
const NOTHING_FOUND = { problems: [], complete: true };

/** Rejects with STORE_FAILED when the file can't be opened, and with STORE_NEWER. */
export async function checkDatabase(file: string, check: DatabaseCheck): Promise<DatabaseReport> {
  let db: DatabaseSync | undefined;
  try {
    // The file may come out of somebody's backup: nothing in its schema may run or be trusted. A lock is not waited for
    // long: that holds the thread, and with it whatever else the caller is waiting for.
    db = new DatabaseSync(file, { readOnly: true, timeout: 100, defensive: true });
    db.exec("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;");
    return await look(db, check);
  } catch (error) {
    if (isDamage(error)) return { schema: undefined, problems: ["It is damaged, or no database."], complete: true };
    if (isBusy(error)) throw held(error);
    throw storeError(error);
  } finally {
    db?.close();
  }
}

/**
 * Of a database that a feature keeps beside svc's own, whose tables are unknown here: problems as in DatabaseReport. Throws
 * STORE_FAILED when the file can't be opened.
 */
export function checkFeatureDatabase(file: string): readonly string[] {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(file, { readOnly: true, timeout: 100, defensive: true });
    db.exec("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;");
    return [...(hasForeign(schemaObjects(db)) ? [FOREIGN] : []), ...sqliteProblems(db, false)];
  } catch (error) {
    if (isDamage(error)) return ["It is damaged, or no database."];
    throw storeError(error);
  } finally {
    db?.close();
  }
}

/** The way in which `openDatabase` opens it on a full disk. */
const held = (cause: unknown): SvcError =>
  new SvcError(
    "STORE_FAILED",
    "Another process has the database to itself, as a daemon does that started on a full disk.",
    {
      cause,
      hint: "Make room on the disk, then: svc restart",
    },
  );

async function look(db: DatabaseSync, { quick, limitMs = Infinity, clock }: DatabaseCheck): Promise<DatabaseReport> {
  const endsAtMs = clock.monotonic() + limitMs;
  const leftMs = (): number => endsAtMs - clock.monotonic();
  const schema = schemaVersion(db);
  if (schema > SCHEMA_VERSION) throw newer();
  const wrong = schemaProblems(db, schema);
  // With parts missing, looking further would only fail.
  if (wrong.length > 0) return { schema, problems: wrong, complete: true };
  const inTime = bytesOf(db) / BYTES_PER_MS <= leftMs();
  const damage = inTime ? sqliteProblems(db, quick) : [];
  const chains = await checkChains(db, leftMs);
  const broken = [
    ...(chains.sessions > 0 ? [`${chains.sessions} conversations name a newest turn that is not theirs.`] : []),
    ...(chains.turns > 0 ? [`${chains.turns} turns follow one that is not of their conversation.`] : []),
  ];
  const messages = schema < FIRST_WITH_MESSAGES ? NOTHING_FOUND : await checkMessages(db, leftMs);
  const approvals = schema < FIRST_WITH_APPROVALS ? NOTHING_FOUND : await checkApprovals(db, leftMs);
  const runs = schema < FIRST_WITH_APPROVALS ? NOTHING_FOUND : await checkRuns(db, leftMs);
  return {
    schema,
    problems: [...damage, ...broken, ...messages.problems, ...approvals.problems, ...runs.problems],
    complete: inTime && chains.complete && messages.complete && approvals.complete && runs.complete,
  };
}

function schemaProblems(db: DatabaseSync, schema: number): string[] {
  if (schema === 0) return ["It holds nothing of svc."];
  const have = schemaObjects(db);
  const missing = expectedObjects(schema).filter((name) => !have.includes(name));
  return [
    ...(missing.length > 0 ? [`Parts of its schema are missing: ${missing.join(", ")}.`] : []),
    ...(hasForeign(have) ? [FOREIGN] : []),
  ];
}

/** svc makes neither; one that came with a backup would run inside svc's own writes. */
const hasForeign = (objects: readonly string[]): boolean =>
  objects.some((name) => name.startsWith("trigger ") || name.startsWith("view "));

const FOREIGN = "It holds triggers or views, which svc never makes.";

/** Kinds and names, without the texts: those of an altered table differ between versions of SQLite. */
const schemaObjects = (db: DatabaseSync): string[] =>
  (db.prepare("SELECT type || ' ' || name AS object FROM sqlite_schema").all() as { object: string }[]).map(
    (row) => row.object,
  );

function expectedObjects(schema: number): string[] {
  const db = new DatabaseSync(":memory:");
  try {
    migrate(db, schema);
    return schemaObjects(db);
  } finally {
    db.close();
  }
}

/** SQLite names pages, tables and row numbers; never what is in them. */
function sqliteProblems(db: DatabaseSync, quick: boolean): string[] {
  const rows = db.prepare(`PRAGMA ${quick ? "quick_check" : "integrity_check"}(${MAX_PROBLEMS})`).all();
  return rows.map((row) => String(Object.values(row)[0])).filter((line) => line !== "ok");
}

const bytesOf = (db: DatabaseSync): number =>
  (db.prepare("SELECT page_count * page_size AS n FROM pragma_page_count, pragma_page_size").get() as { n: number }).n;

/** Every conversation is a chain of turns, from the newest back: each link has to lead to an older turn of its own. */
interface ChainReport {
  /** Conversations whose newest turn is missing or another's. */
  readonly sessions: number;
  /** Turns that follow one that is missing or another's. */
  readonly turns: number;
  readonly complete: boolean;
}

/** Looks until `leftMs` says that no time is left. */
async function checkChains(db: DatabaseSync, leftMs: () => number): Promise<ChainReport> {
  const sessions = await countBroken(db, BROKEN_SESSIONS, leftMs);
  const turns = await countBroken(db, BROKEN_TURNS, leftMs);
  return { sessions: sessions.broken, turns: turns.broken, complete: sessions.complete && turns.complete };
}

const BROKEN_SESSIONS = `
  SELECT max(s.n) AS last, total(t.session IS NOT s.n) AS broken
  FROM (SELECT n, last_turn FROM sessions WHERE n > ? ORDER BY n LIMIT ${PAGE}) AS s
  LEFT JOIN turns AS t ON t.n = s.last_turn`;

const BROKEN_TURNS = `
  SELECT max(t.n) AS last, total(t.previous IS NOT NULL AND (p.session IS NOT t.session OR p.n >= t.n)) AS broken
  FROM (SELECT n, session, previous FROM turns WHERE n > ? ORDER BY n LIMIT ${PAGE}) AS t
  LEFT JOIN turns AS p ON p.n = t.previous`;

/** Every run of a procedure either goes on or has ended, and the audit log is as it was written. */
interface RunReport {
  /** Sentences. */
  readonly problems: readonly string[];
  readonly complete: boolean;
}

/** Looks until `leftMs` says that no time is left. */
async function checkRuns(db: DatabaseSync, leftMs: () => number): Promise<RunReport> {
  const undecided = await countBroken(db, UNDECIDED, leftMs);
  const audit = await verifyAudit(db, leftMs);
  return {
    problems: [
      ...(undecided.broken > 0
        ? [`${undecided.broken} runs of procedures neither go on nor have ended, or both.`]
        : []),
      ...(audit.brokenAt === undefined
        ? []
        : [`The audit log is not as it was written, from line ${audit.brokenAt} on.`]),
    ],
    complete: undecided.complete && audit.complete,
  };
}

const UNDECIDED = `
  SELECT max(r.n) AS last, total((a.n IS NULL) = (e.n IS NULL) OR d.n IS NULL) AS broken
  FROM (SELECT n, definition FROM sop_runs WHERE n > ? ORDER BY n LIMIT ${PAGE}) AS r
  LEFT JOIN sop_active AS a ON a.n = r.n LEFT JOIN sop_ended AS e ON e.n = r.n
  LEFT JOIN sop_definitions AS d ON d.n = r.definition`;

/** Every approval either waits or has an end, and whatever asks a question asks one that is there. */
interface ApprovalReport {
  /** Sentences. */
  readonly problems: readonly string[];
  readonly complete: boolean;
}

/** Looks until `leftMs` says that no time is left. */
async function checkApprovals(db: DatabaseSync, leftMs: () => number): Promise<ApprovalReport> {
  const found: readonly [Broken, string][] = [
    [await countBroken(db, UNDECIDED_APPROVALS, leftMs), "approvals neither wait nor have an end, or both."],
    [
      await countBroken(db, STRAYS, leftMs),
      "questions to a person belong to no approval, or are open though it has ended.",
    ],
  ];
  return {
    problems: found.filter(([{ broken }]) => broken > 0).map(([{ broken }, what]) => `${broken} ${what}`),
    complete: found.every(([{ complete }]) => complete),
  };
}

const UNDECIDED_APPROVALS = `
  SELECT max(n) AS last, total((status = 'waiting') IS NOT (ended_at IS NULL) OR (ended_at IS NULL) <> (ended_by IS NULL)) AS broken
  FROM (SELECT n, status, ended_at, ended_by FROM approvals WHERE n > ? ORDER BY n LIMIT ${PAGE})`;

const STRAYS = `
  SELECT max(p.delivery) AS last, total((p.is_open = 1) IS NOT (a.status = 'waiting')) AS broken
  FROM (SELECT delivery, approval, is_open FROM approval_prompts WHERE delivery > ? ORDER BY delivery LIMIT ${PAGE}) AS p
  LEFT JOIN approvals AS a ON a.n = p.approval`;

/** Every message either waits or has ended, and whatever waits or has ended is a message. */
interface MessageReport {
  /** Sentences. */
  readonly problems: readonly string[];
  readonly complete: boolean;
}

/** Looks until `leftMs` says that no time is left. */
async function checkMessages(db: DatabaseSync, leftMs: () => number): Promise<MessageReport> {
  const found: [Broken, string][] = [];
  for (const [box, direction] of [
    ["inbox", "came in"],
    ["outbox", "go out"],
  ] as const) {
    found.push([
      await countBroken(db, undecided(box), leftMs),
      `messages that ${direction} neither wait nor have ended, or both.`,
    ]);
    for (const state of ["open", "ended"]) {
      const stray = await countBroken(db, strays(box, state), leftMs);
      found.push([stray, `notes of messages that ${direction} belong to none.`]);
    }
  }
  found.push([await countBroken(db, BROKEN_BLOCKS, leftMs), "blocks of ids that were seen before are not whole."]);
  return {
    problems: found.filter(([{ broken }]) => broken > 0).map(([{ broken }, what]) => `${broken} ${what}`),
    complete: found.every(([{ complete }]) => complete),
  };
}

const undecided = (box: string): string => `
  SELECT max(m.n) AS last, total((o.n IS NULL) = (e.n IS NULL)) AS broken
  FROM (SELECT n FROM ${box} WHERE n > ? ORDER BY n LIMIT ${PAGE}) AS m
  LEFT JOIN ${box}_open AS o ON o.n = m.n LEFT JOIN ${box}_ended AS e ON e.n = m.n`;

const strays = (box: string, state: string): string => `
  SELECT max(s.n) AS last, total(m.n IS NULL) AS broken
  FROM (SELECT n FROM ${box}_${state} WHERE n > ? ORDER BY n LIMIT ${PAGE}) AS s LEFT JOIN ${box} AS m ON m.n = s.n`;

const BROKEN_BLOCKS = `
  SELECT max(b.n) AS last, total((SELECT count(*) FROM seen_rows
    WHERE seen_rows.n >= b.n * ${SEEN_ROWS} AND seen_rows.n < (b.n + 1) * ${SEEN_ROWS}) <> ${SEEN_ROWS}) AS broken
  FROM (SELECT n FROM seen_blocks WHERE n > ? ORDER BY n LIMIT ${PAGE}) AS b`;

interface Broken {
  readonly broken: number;
  /** False: the time was up before all rows were looked at. */
  readonly complete: boolean;
}

/**
 * Counts what is broken in a table, some rows at a time, so that neither a time limit nor the event loop has to wait. Looks until `leftMs` says that no time is left. `page` is a query of the next `PAGE` rows after the number that it is
 * given: the `last` number among them, and how many are `broken`.
 */
async function countBroken(db: DatabaseSync, page: string, leftMs: () => number): Promise<Broken> {
  const next = db.prepare(page);
  let broken = 0;
  let after: number | null = 0;
  while (after !== null) {
    if (leftMs() <= 0) return { broken, complete: false };
    const step = next.get(after) as { last: number | null; broken: number };
    broken += step.broken;
    after = step.last;
    await nextTurn();
  }
  return { broken, complete: true };
}
