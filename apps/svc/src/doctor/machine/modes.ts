/** Whose the files are, and who else may open them. Windows has no such bits. */
import { lstat } from "node:fs/promises";
import { error, type Finding, ok, warning } from "../finding.ts";
import type { Check } from "./check.ts";

const OTHERS = 0o077;
const OTHERS_WRITE = 0o022;

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
