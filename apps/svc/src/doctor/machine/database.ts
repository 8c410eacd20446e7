/** The database: there, of a schema this svc knows, sound, and of a reasonable size. */
import { stat } from "node:fs/promises";
import { SvcError } from "@svc/contract";
import { error, type Finding, ok, warning } from "../finding.ts";
import type { Check } from "./check.ts";
import type { Machine } from "./machine.ts";

/** The write-ahead log is cut back at 16 MB; one that is far past it is not written back any more. */
const LARGE_WAL_BYTES = 128 * 1024 * 1024;
/** What is not looked at by then is said to be left out. */
const LOOK_MS = 1200;

export const database: Check = {
  id: "database",
  async find(machine) {
    const file = machine.home.database;
    const there = await stat(file).catch(() => undefined);
    if (there === undefined) return [ok("database", "There is no database yet; the daemon makes it.")];
    if (!there.isFile())
      return [error("database", `${file} is no plain file.`, "move it away, and restore a backup: svc restore")];
    return [
      await soundness(machine),
      ...(await writability(machine)),
      await writeAheadLog(file),
      ok("database-size", `The database has ${size(there.size)}.`),
    ];
  },
};

async function soundness({ home, clock }: Machine): Promise<Finding> {
  const { checkDatabase, SCHEMA_VERSION } = await import("@svc/store");
  try {
    const { schema, problems, complete } = await checkDatabase(home.database, { quick: true, limitMs: LOOK_MS, clock });
    if (problems.length > 0) {
      return error(
        "database",
        `The database is damaged: ${problems.join(" ")}`,
        "stop the daemon, then restore a backup: svc restore",
      );
    }
    const schemaText = `schema ${schema} of ${SCHEMA_VERSION}`;
    return ok(
      "database",
      complete
        ? `The database is sound (${schemaText}).`
        : `The database is too large to be read through here (${schemaText}).`,
    );
  } catch (cause) {
    if (!(cause instanceof SvcError)) throw cause;
    return error("database", cause.message, cause.hint ?? "svc logs --level error");
  }
}

/** The daemon's own word: a full disk shows in its writes first. */
async function writability(machine: Machine): Promise<Finding[]> {
  const { status } = await machine.daemon();
  if (status?.database?.writable !== false) return [];
  return [
    error(
      "database-writable",
      "The daemon can't write to the database.",
      "see what is said of the disk; svc logs --level error",
    ),
  ];
}

async function writeAheadLog(file: string): Promise<Finding> {
  const bytes = (await stat(`${file}-wal`).catch(() => undefined))?.size ?? 0;
  if (bytes < LARGE_WAL_BYTES) return ok("database-wal", `The write-ahead log has ${size(bytes)}.`);
  const message = `The write-ahead log has ${size(bytes)}: something keeps the database open and old.`;
  return warning("database-wal", message, "end other programs that read the database, then: svc restart");
}

export function size(bytes: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  const step = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  return `${(bytes / 1000 ** step).toFixed(step === 0 ? 0 : 1)} ${units[step]}`;
}
