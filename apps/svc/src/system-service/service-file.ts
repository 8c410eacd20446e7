/** The service file on disk: ours, edited, or somebody else's; written whole or not at all. */
import { randomUUID } from "node:crypto";
import { chmodSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { SvcError } from "@svc/contract";
import { type Origin, originOf } from "./plan.ts";

export interface ServiceFile {
  readonly text: string;
  readonly origin: Origin;
}

/** Undefined: there is none. Throws SERVICE_FAILED. */
export function readServiceFile(file: string): ServiceFile | undefined {
  try {
    const stats = lstatSync(file, { throwIfNoEntry: false });
    if (stats === undefined) return undefined;
    // A link is how an administrator masks a service, or puts it elsewhere.
    if (!stats.isFile()) return { text: "", origin: "foreign" };
    const text = readFileSync(file, "utf8");
    return { text, origin: originOf(text) };
  } catch (cause) {
    throw failed(file, "read", cause);
  }
}

/** Throws SERVICE_EDITED for a file that is not as svc wrote it, unless `force`. */
export function assertOurs(file: string, found: ServiceFile | undefined, force: boolean): void {
  if (found === undefined || found.origin === "ours" || force) return;
  const what = found.origin === "edited" ? "was changed after svc wrote it" : "was not written by svc";
  throw new SvcError("SERVICE_EDITED", `${file} ${what}.`, {
    hint: "Put changes into a drop-in (systemctl edit), or overwrite the file with --force.",
  });
}

/** Throws SERVICE_FAILED. */
export function writeServiceFile(file: string, text: string): void {
  const draft = `${file}.${randomUUID()}.tmp`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    // Nothing in it is secret, and managers complain about service files that nobody may read.
    writeFileSync(draft, text, { mode: 0o600, flag: "wx", flush: true });
    chmodSync(draft, 0o644);
    renameSync(draft, file);
  } catch (cause) {
    rmSync(draft, { force: true });
    throw failed(file, "written", cause);
  }
}

/** Throws SERVICE_FAILED. */
export function removeServiceFile(file: string): void {
  try {
    rmSync(file);
  } catch (cause) {
    throw failed(file, "removed", cause);
  }
}

const failed = (file: string, done: string, cause: unknown): SvcError =>
  new SvcError("SERVICE_FAILED", `${file} can't be ${done}.`, {
    cause,
    hint: "A service of the whole machine needs root: sudo svc service … --system.",
  });
