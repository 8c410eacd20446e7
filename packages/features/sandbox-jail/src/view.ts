/** What of this machine's files a jail shows: what programs need to run, the paths of the config, the workspace. */
import { readdir, realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { type Confinement, SvcError } from "@svc/contract";

export interface View {
  /** Top folders that are shown as they are, read only. */
  readonly shown: readonly string[];
  /** Top folders that are empty except for `visible`. */
  readonly emptied: readonly string[];
  /** Existing real paths to show below those, the workspace first. */
  readonly visible: readonly string[];
  /** Those of them that can be read and not written. */
  readonly readable: readonly string[];
  readonly writable: readonly string[];
  /** Paths to cover inside the visible folders. */
  readonly covered: readonly string[];
}

/** Throws SANDBOX_UNAVAILABLE for what firejail can't do. */
export async function viewOf({ workspace, readable, writable, hidden }: Confinement): Promise<View> {
  const secret = (await existing(hidden)).filter((path) => path !== workspace);
  // The workspace may lie in something hidden; nothing else may.
  const open = async (paths: readonly string[]): Promise<string[]> =>
    (await existing(paths)).filter((path) => !secret.some((each) => path === each || isBelow(path, each)));
  const may = { read: await open(readable), write: [workspace, ...(await open(writable))] };
  const visible = [...may.write, ...may.read];
  const tops = await topFolders();
  // The folder of something hidden with the workspace in it can't be covered: all around the workspace is left out instead.
  const around = secret.filter((path) => isBelow(workspace, path));
  const isShown = (top: string): boolean =>
    visible.includes(top) || (OF_PROGRAMS.has(top) && !around.some((path) => isBelow(path, top)));
  const shown = tops.filter(isShown);
  const emptied = tops.filter((top) => !isShown(top));
  const bare = [...shown.filter((top) => !OWN.includes(top)), ...visible];
  if (around.some((path) => bare.some((shows) => shows !== workspace && (path === shows || isBelow(path, shows))))) {
    throw unavailable("firejail can't hide a folder inside one that is readable and show the workspace in it.");
  }
  const covered = secret.filter((path) => bare.some((shows) => isBelow(path, shows)) && !around.includes(path));
  for (const path of [...visible, ...covered]) refuseUnusual(path);
  return { shown, emptied, visible, readable: may.read, writable: may.write, covered };
}

/** A jail has its own of these. */
const OWN = ["/dev", "/proc", "/sys", "/tmp"];

const OF_PROGRAMS = new Set([
  ...OWN,
  "/bin",
  "/etc",
  "/gnu",
  "/lib",
  "/lib32",
  "/lib64",
  "/libx32",
  "/nix",
  "/opt",
  "/sbin",
  "/usr",
]);

export const isBelow = (path: string, folder: string): boolean => path.startsWith(folder === sep ? sep : folder + sep);

/** Links stay: their targets are other top folders, or below one. */
async function topFolders(): Promise<string[]> {
  const entries = await readdir("/", { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join("/", name));
}

async function existing(paths: readonly string[]): Promise<string[]> {
  const real = await Promise.all(paths.map((path) => realpath(path).catch(() => undefined)));
  return [...new Set(real.filter((path) => path !== undefined))];
}

/** firejail refuses some of these, and takes others for patterns or macros: then something else would be hidden. */
function refuseUnusual(path: string): void {
  // oxlint-disable-next-line no-control-regex -- those are meant
  if (!/[\u0000-\u001f\u007f\\&!?"'<>%^${};,*[\]]/.test(path)) return;
  throw unavailable("firejail takes no path with quotes, brackets, commas, wildcards or the like: rename the folder.");
}

export const unavailable = (message: string): SvcError => new SvcError("SANDBOX_UNAVAILABLE", message);
