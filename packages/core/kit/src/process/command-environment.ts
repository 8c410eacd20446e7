/** What a command is given of the system: its environment, its programs, its user. */
import { delimiter, isAbsolute, join, win32 } from "node:path";
import { constants, readFileSync } from "node:fs";
import { access, stat } from "node:fs/promises";

/** Nothing of the daemon's own environment: it holds secrets, and variables that make programs load code. */
export function commandEnvironment(workspace: string, unasked: boolean): Readonly<Record<string, string>> {
  return {
    PATH: commandPath(),
    HOME: workspace,
    LANG: "C.UTF-8",
    TERM: "dumb",
    ...(process.platform === "win32" && windowsEnvironment(workspace)),
    ...(unasked && NEUTRAL),
  };
}

/** Programs of Windows do not start, or not find their files, without these. */
function windowsEnvironment(workspace: string): Readonly<Record<string, string>> {
  const folder = windowsFolder();
  return {
    SystemRoot: folder,
    windir: folder,
    SystemDrive: folder.slice(0, 2),
    ComSpec: win32.join(folder, "System32", "cmd.exe"),
    PATHEXT: ".COM;.EXE;.BAT;.CMD",
    USERPROFILE: workspace,
    TEMP: workspace,
    TMP: workspace,
  };
}

/** Windows sets it for every process. */
export const windowsFolder = (): string => process.env["SystemRoot"] ?? String.raw`C:\Windows`;

/** Where programs are found. */
export const commandPath = (): string =>
  process.platform === "win32" ? windowsCommandPath(windowsFolder()) : unixCommandPath();

const windowsCommandPath = (folder: string): string =>
  [win32.join(folder, "System32"), folder, win32.join(folder, "System32", "WindowsPowerShell", "v1.0")].join(";");

const unixCommandPath = (): string =>
  [
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    ...(process.platform === "darwin" ? ["/opt/homebrew/bin"] : []),
  ].join(":");

/**
 * Settings that lie in the workspace can name programs: pagers, editors, helpers, hooks. A command that no person approved must
 * not find them. Nothing can be made below /dev/null, by any user, in any sandbox.
 */
const NOWHERE = process.platform === "win32" ? "NUL" : "/dev/null";

/** git-config(1): settings that git takes for given on its command line, which wins over those of a repository. */
const GIT_SETTINGS: readonly (readonly [string, string])[] = [
  ["core.fsmonitor", "false"],
  ["core.hooksPath", NOWHERE],
  ["core.pager", "cat"],
  ["core.editor", "false"],
  ["core.attributesFile", NOWHERE],
  ["core.alternateRefsCommand", "true"],
  // An empty one empties the list of those before it.
  ["credential.helper", ""],
  ["gpg.program", "false"],
  ["gpg.openpgp.program", "false"],
  ["gpg.x509.program", "false"],
  ["gpg.ssh.program", "false"],
  ["gpg.ssh.defaultKeyCommand", "false"],
  ["commit.gpgSign", "false"],
  ["tag.gpgSign", "false"],
  ["log.showSignature", "false"],
  ["merge.verifySignatures", "false"],
  ["interactive.diffFilter", "cat"],
  ["safe.bareRepository", "explicit"],
  ["diff.ignoreSubmodules", "all"],
  ["submodule.recurse", "false"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
];

const NEUTRAL: Readonly<Record<string, string>> = {
  HOME: NOWHERE,
  XDG_CONFIG_HOME: NOWHERE,
  XDG_DATA_HOME: NOWHERE,
  PAGER: "cat",
  MANPAGER: "cat",
  SYSTEMD_PAGER: "cat",
  LESSSECURE: "1",
  LESSHISTFILE: "-",
  EDITOR: "false",
  VISUAL: "false",
  BROWSER: "false",
  // git(1)
  GIT_CONFIG_GLOBAL: NOWHERE,
  GIT_CONFIG_SYSTEM: NOWHERE,
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_PAGER: "cat",
  GIT_EDITOR: "false",
  GIT_SEQUENCE_EDITOR: "false",
  GIT_ASKPASS: "false",
  SSH_ASKPASS: "false",
  GIT_TERMINAL_PROMPT: "0",
  GIT_SSH_COMMAND: "false",
  GIT_PROXY_COMMAND: "",
  // Objects that a partial clone lacks would be fetched, by a program that the repository's configuration names.
  GIT_NO_LAZY_FETCH: "1",
  GIT_ALLOW_PROTOCOL: "none",
  GIT_CONFIG_COUNT: String(GIT_SETTINGS.length),
  ...Object.fromEntries(
    GIT_SETTINGS.flatMap(([key, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ),
  // Settings of other programs that are looked for by a name of their own. curl(1), wget(1), rg(1), readline(3), gpg(1).
  CURL_HOME: NOWHERE,
  WGETRC: NOWHERE,
  RIPGREP_CONFIG_PATH: "",
  INPUTRC: NOWHERE,
  GNUPGHOME: NOWHERE,
  // A listed program can be a script of these languages. python(1), npm-config(7).
  PYTHONNOUSERSITE: "1",
  PYTHONSAFEPATH: "1",
  NPM_CONFIG_USERCONFIG: NOWHERE,
};

/** Absolute path of a program, by `PATH`. Entries that are not absolute are left out: they mean another file in each folder. */
export async function findProgram(name: string, path = process.env["PATH"] ?? ""): Promise<string | undefined> {
  for (const folder of path.split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const file = join(folder, name);
    if (await isProgram(file)) return file;
  }
  return undefined;
}

async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

/**
 * The user for root's commands in a workspace without another owner. Above every range that distributions and service managers
 * assign (below 65536) and below those of containers (524288 and up), so that no other account has this id:
 * https://systemd.io/UIDS-GIDS/. It needs no line in /etc/passwd.
 */
export const SANDBOX_USER = Object.freeze({ uid: 242_617, gid: 242_617 });

/**
 * False in a user namespace that does not map this user, as in a container without root: there no file can be given to it. The maps are
 * those of user_namespaces(7): first id inside, first id outside, number of ids.
 */
export function hasSandboxUser(read: (file: string) => string = (file) => readFileSync(file, "utf8")): boolean {
  try {
    return (
      isMapped(read("/proc/self/uid_map"), SANDBOX_USER.uid) && isMapped(read("/proc/self/gid_map"), SANDBOX_USER.gid)
    );
  } catch {
    // A system without user namespaces.
    return true;
  }
}

const isMapped = (map: string, id: number): boolean =>
  map.split("\n").some((line) => {
    const [first, , count] = line.trim().split(/\s+/).map(Number);
    return first !== undefined && count !== undefined && id >= first && id < first + count;
  });
