/** What the log says of procedures that came, changed, went or turned bad. */
import type { Logger } from "@svc/contract";
import type { Change } from "./shelf.ts";

/** More good news at once is a line together: a start loads thousands. */
const MOST_LINES = 10;

export function tellChanges(log: Logger, changes: readonly Change[]): void {
  const good = changes.filter(({ kind }) => kind === "loaded" || kind === "removed");
  if (good.length > MOST_LINES) {
    const loaded = good.filter(({ kind }) => kind === "loaded").length;
    log.info("procedures were read", { loaded, removed: good.length - loaded });
  } else {
    for (const { name, kind } of good) log.info(kind === "loaded" ? LOADED : "a procedure was removed", { sop: name });
  }
  for (const { name, kind, problem } of changes) {
    if (kind === "turned-bad") log.warn(TURNED_BAD, { sop: name, problem });
    if (kind === "broken") log.warn("a procedure's files are wrong; it is not loaded", { sop: name, problem });
  }
}

const LOADED = "a procedure was loaded";
const TURNED_BAD = "a procedure's files are wrong now; the version before stays in force";
