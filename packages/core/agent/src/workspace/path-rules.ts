import { realpath } from "node:fs/promises";
import nodePath, { basename, dirname, join } from "node:path";
import { SvcError } from "@svc/contract";
import { windowsCaseFold, windowsPathTrap } from "@svc/kit/files";

export interface PathRuleOptions {
  /** `security.policy.forbidden_paths`: absolute, or relative to the workspace. */
  readonly forbiddenPaths: readonly string[];
  /** Never shown, never touched, except for the workspace itself: `$SVC_HOME` and the config file. */
  readonly hidden: readonly string[];
  /** `security.policy.workspace_only`. */
  readonly workspaceOnly: boolean;
}

/** `node:path`, or one of its two halves. */
type Paths = Pick<typeof nodePath, "isAbsolute" | "join" | "relative" | "resolve" | "sep">;

export interface PathRules {
  /** Where the walk to a path may start: the real root, or the file system's root for paths outside. */
  readonly root: string;
  /** The absolute path that `path` means. Throws for what is refused as it is written. */
  locate(path: string): string;
  /** Throws when the thing that really is at `realPath` is off limits. */
  admit(realPath: string): Promise<void>;
  /** Whether a listing leaves this path out. */
  isHidden(realPath: string): Promise<boolean>;
}

export interface Root {
  /** As configured, absolute. */
  readonly given: string;
  /** Symlinks resolved. */
  readonly real: string;
}

/** `paths`: the rules of the system's paths; those of another system in tests. */
export function createPathRules(root: Root, options: PathRuleOptions, paths: Paths = nodePath): PathRules {
  const forbidden = options.forbiddenPaths.map((entry) => paths.resolve(root.real, plainPath(entry, paths)));
  const hidden = [...options.hidden.map((entry) => paths.resolve(entry)), ...(isWindows(paths) ? [] : KERNEL_FOLDERS)];
  const inside = (path: string, folder: string): boolean => isInside(path, folder, paths);
  // The folder that holds the workspace may be hidden; the workspace in it is not.
  const isHiddenPath = (path: string, folders: readonly string[]): boolean =>
    folders.some((folder) => inside(path, folder) && !(inside(path, root.real) && inside(root.real, folder)));

  return {
    root: root.real,
    locate(path) {
      const absolute = absolutePath(root, path, paths);
      if (options.workspaceOnly && !inside(absolute, root.real)) throw outside();
      if (forbidden.some((folder) => inside(absolute, folder))) throw forbiddenByRule();
      return absolute;
    },
    async admit(path) {
      if (options.workspaceOnly && !inside(path, root.real)) throw outside();
      // Resolved at every call: an entry can become a symlink, or come to exist, after the start.
      const really = await Promise.all(forbidden.map(realPathOf));
      if ([...forbidden, ...really].some((folder) => inside(path, folder))) throw forbiddenByRule();
      if (await this.isHidden(path)) throw new SvcError("PATH_FORBIDDEN", HIDDEN);
    },
    async isHidden(path) {
      return isHiddenPath(path, hidden) || isHiddenPath(path, await Promise.all(hidden.map(realPathOf)));
    },
  };
}

/** Whether `path` is `folder` or below it; both absolute and normalised. Windows does not tell capitals from small letters. */
export function isInside(path: string, folder: string, paths: Paths = nodePath): boolean {
  if (isWindows(paths)) return isBelow(windowsCaseFold(path), windowsCaseFold(folder), paths.sep);
  return isBelow(path, folder, paths.sep);
}

const isBelow = (path: string, folder: string, sep: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

const isWindows = ({ sep }: Paths): boolean => sep === "\\";

/** /proc/self/environ holds the daemon's secrets; the others are devices and switches, not files. */
const KERNEL_FOLDERS = ["/proc", "/sys", "/dev"];

const HIDDEN = "This path belongs to the service or the system, and file tools never touch it.";

function absolutePath(root: Root, path: string, paths: Paths): string {
  if (path.includes("\0")) throw new SvcError("TOOL_BAD_INPUT", "A path can't contain a NUL character.");
  // Refused even where it would stay inside: through a symlink `a/..` is not where it seems to be.
  if (path.split(/[\\/]/).includes("..")) {
    throw new SvcError("PATH_OUTSIDE_WORKSPACE", 'A path can\'t contain "..".', {
      hint: "Name the file by its path from the workspace's root.",
    });
  }
  const trap = isWindows(paths) ? windowsPathTrap(path) : undefined;
  if (trap !== undefined) {
    throw new SvcError("PATH_FORBIDDEN", `The path ${trap}.`, {
      hint: "Name the file by its full name, from the workspace's root or from a drive.",
    });
  }
  if (!paths.isAbsolute(path)) return paths.resolve(root.real, path);
  const normal = paths.resolve(path);
  return isInside(normal, root.given, paths) ? paths.join(root.real, paths.relative(root.given, normal)) : normal;
}

/** `~` and patterns would be taken literally and silently protect nothing. */
function plainPath(entry: string, paths: Paths): string {
  const isPlain = entry.trim() !== "" && !/[*?[\]\0]/.test(entry) && !entry.startsWith("~");
  if (isPlain && !(isWindows(paths) && windowsPathTrap(entry) !== undefined)) return entry;
  throw new SvcError("CONFIG_INVALID", "An entry of security.policy.forbidden_paths is not a plain path.", {
    hint: "Write absolute paths, or paths relative to the workspace, without ~ and without patterns.",
  });
}

/** The real path of what exists of `path`, and the rest as it is written. */
async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(await realPathOf(parent), basename(path));
  }
}

const outside = (): SvcError =>
  new SvcError(
    "PATH_OUTSIDE_WORKSPACE",
    "The path is outside the workspace, and workspace_only keeps tools inside it.",
    {
      hint: "Use a path below the workspace, or set security.policy.workspace_only = false.",
    },
  );

const forbiddenByRule = (): SvcError =>
  new SvcError("PATH_FORBIDDEN", "security.policy.forbidden_paths forbids this path.");
