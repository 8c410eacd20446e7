/**
 * A sandbox opens the workspace and the paths of the config by their names, with the daemon's rights. Where commands can write a
 * folder on the way to one, they can put a link there, and the next command is given whatever it names.
 */
import { lstat, readlink } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";

export interface SandboxPaths {
  /** Of this agent. */
  readonly workspace: string;
  /** Of every agent, this one's among them. */
  readonly workspaces: readonly string[];
  readonly readable: readonly string[];
  readonly writable: readonly string[];
  /** A command that moves the folder around one of these has it in view under another name. */
  readonly hidden: readonly string[];
}

/** Why no sandbox can hold, as `Choice.tried` wants it; undefined: no command can move any of them. */
export async function movablePath({
  workspace,
  workspaces,
  readable,
  writable,
  hidden,
}: SandboxPaths): Promise<string | undefined> {
  const zones = await Promise.all([...workspaces, ...writable].map(entriesOf));
  for (const path of [workspace, ...readable, ...writable, ...hidden]) {
    const entries = await entriesOf(path);
    const zone = zones.find(({ end }) => entries.names.some((name) => isBelow(name, end)));
    if (zone)
      return `${path} lies in ${zone.end}, which commands can write: one could put a link in its place; move it out`;
  }
  return undefined;
}

const isBelow = (path: string, folder: string): boolean => path.startsWith(folder === sep ? sep : folder + sep);

interface Entries {
  /** Of folders, links and the file itself: each name that is looked up on the way. */
  readonly names: readonly string[];
  /** Where it leads. */
  readonly end: string;
}

/** As path_resolution(7) goes. What is not there yet leads to itself. */
async function entriesOf(path: string): Promise<Entries> {
  const names: string[] = [];
  const left = resolve(path).split(sep).filter(Boolean);
  let end: string = sep;
  for (let links = 0; left.length > 0;) {
    const part = left.shift()!;
    if (part === "..") {
      end = dirname(end);
      continue;
    }
    const name = join(end, part);
    names.push(name);
    const isLink = links < MOST_LINKS && (await lstat(name).catch(() => undefined))?.isSymbolicLink();
    if (!isLink) {
      end = name;
      continue;
    }
    links += 1;
    const target = await readlink(name);
    if (target.startsWith(sep)) end = sep;
    left.unshift(...target.split(sep).filter((each) => each !== "" && each !== "."));
  }
  return { names, end };
}

/** MAXSYMLINKS of Linux. */
const MOST_LINKS = 40;
