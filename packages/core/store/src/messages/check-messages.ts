/** Every message either waits or has ended, and whatever waits or has ended is a message. */
import type { DatabaseSync } from "node:sqlite";
import { type Broken, countBroken, PAGE } from "../count-broken.ts";
import { SEEN_ROWS } from "./seen-blocks.ts";

export interface MessageReport {
  /** Sentences. */
  readonly problems: readonly string[];
  readonly complete: boolean;
}

/** Looks until `leftMs` says that no time is left. */
export async function checkMessages(db: DatabaseSync, leftMs: () => number): Promise<MessageReport> {
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
