/** All that a command sees of an environment. */
import { win32 } from "node:path";

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
