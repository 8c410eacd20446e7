/** What lies in the home: whose the files are and who else may open them, the config, and the database. */
import { lstat, stat } from "node:fs/promises";
import { ConfigError, formatProblems, type Problem } from "@svc/config";
import { SvcError } from "@svc/contract";
import { error, type Finding, ok, warning } from "../finding.ts";
import type { Check, Machine } from "./machine.ts";

const OTHERS = 0o077;
const OTHERS_WRITE = 0o022;

/** Windows has no such bits. */
const hasModes = process.platform !== "win32";

export const keyFile: Check = {
  id: "key-file",
  async find({ home }) {
    const stats = await lstat(home.secretKey).catch(() => undefined);
    if (stats === undefined) return [ok("key-file", "There is no key file yet; the first encrypted secret makes it.")];
    if (!stats.isFile())
      return [error("key-file", `${home.secretKey} is no plain file.`, "restore .secret_key from a backup")];
    if (hasModes && (stats.mode & OTHERS) !== 0) {
      return [error("key-file", "Other users can open the key file.", `chmod 600 ${quoted(home.secretKey)}`)];
    }
    return [ok("key-file", "The key file is its owner's alone.")];
  },
};

export const homeFolder: Check = {
  id: "home",
  async find({ home }) {
    const stats = await lstat(home.root).catch(() => undefined);
    if (stats === undefined) return [warning("home", `${home.root} does not exist yet.`, "svc init")];
    const owner = ownerFinding(stats.uid, home.root);
    if (owner) return [owner];
    if (!hasModes || stats.isSymbolicLink()) return [ok("home", `The home is ${home.root}.`)];
    return [folderFinding("home", home.root, stats.mode)];
  },
};

/** What root writes into another user's home, that user's daemon can't open. */
function ownerFinding(uid: number, folder: string): Finding | undefined {
  const own = process.getuid?.();
  if (own === undefined || own === uid) return undefined;
  return warning("home", `${folder} belongs to another user (${uid}).`, "run svc as that user, or set SVC_HOME");
}

function folderFinding(id: string, folder: string, mode: number): Finding {
  const fix = `chmod 700 ${quoted(folder)}`;
  if ((mode & OTHERS_WRITE) !== 0) return error(id, `Other users can change what is in ${folder}.`, fix);
  if ((mode & OTHERS) !== 0) return warning(id, `Other users can look into ${folder}.`, fix);
  return ok(id, `${folder} is its owner's alone.`);
}

export const fileModes: Check = {
  id: "file-modes",
  security: true,
  async find({ home }) {
    if (!hasModes) return [];
    const folders = await Promise.all([home.stateDir, home.runDir, home.logsDir].map((path) => open(path, "700")));
    const files = await Promise.all([home.config, home.database, home.controlSocket].map((path) => open(path, "600")));
    const found = [...folders, ...files].filter((finding) => finding !== undefined);
    return found.length > 0 ? found : [ok("file-modes", "Config, state, logs and socket are their owner's alone.")];
  },
};

async function open(path: string, wanted: string): Promise<Finding | undefined> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats === undefined || stats.isSymbolicLink() || (stats.mode & OTHERS) === 0) return undefined;
  return warning("file-modes", `Other users can open ${path}.`, `chmod ${wanted} ${quoted(path)}`);
}

/** To be pasted into a shell. */
const quoted = (path: string): string =>
  /^[\w./+-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;

/** The config: valid, readable, and the one that is in force. */
export const config: Check = {
  id: "config",
  async find(machine, signal) {
    const { file, problem } = await machine.config();
    if (problem === undefined) return [ok("config", `${file} is valid.`)];
    if (problem.code === "CONFIG_NOT_FOUND") return [warning("config", `${file} does not exist.`, "svc init")];
    if (problem instanceof ConfigError) {
      const [state] = await keyFile.find(machine, signal);
      return problem.problems.map((each) => findingOf(each, file, state));
    }
    return [error("config", problem.message, problem.hint ?? "svc config check")];
  },
};

/** What can't be decrypted is no mistake in the file, and is fixed otherwise. */
function findingOf(problem: Problem, file: string, keyFileState: Finding | undefined): Finding {
  const message = formatProblems([problem]);
  if (problem.code === "SECRET_UNREADABLE") {
    const restore = `restore .secret_key from a backup, or move it away and: svc secrets set ${problem.key}`;
    return error("secrets-readable", message, keyFileState?.fix ?? restore);
  }
  const where = problem.env === undefined ? `edit ${file}` : `change or unset ${problem.env}`;
  return error("config", message, `${where}, then: svc config check`);
}

export const configInForce: Check = {
  id: "config-in-force",
  async find(machine) {
    const { report } = await machine.daemon();
    if (report === undefined) return [];
    if (report.changed === undefined) {
      const message = "The daemon runs on a config that is no longer in the file, which it could not load.";
      return [warning("config-in-force", message, "svc config check, then: svc reload")];
    }
    return [
      report.changed.length === 0
        ? ok("config-in-force", "The daemon runs on the config as it is.")
        : warning("config-in-force", `Changed since the daemon loaded it: ${sections(report.changed)}.`, "svc reload"),
      ...(report.restart.length === 0
        ? []
        : [warning("config-in-force", `In force only after a restart: ${report.restart.join(", ")}.`, "svc restart")]),
    ];
  },
};

const sections = (names: readonly string[]): string => names.map((name) => `[${name}]`).join(", ");

/** The write-ahead log is cut back at 16 MB; one that is far past it is not written back any more. */
const LARGE_WAL_BYTES = 128 * 1024 * 1024;
/** What is not looked at by then is said to be left out. */
const LOOK_MS = 1200;

/** There, of a schema this svc knows, sound, and of a reasonable size. */
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
