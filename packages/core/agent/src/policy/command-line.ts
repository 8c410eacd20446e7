import { closeSync, constants, existsSync, fstatSync, lstatSync, openSync, readSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { isInside } from "../workspace/path-rules.ts";
import { type SimpleCommand, type Word, parseLine } from "./shell-syntax.ts";
import { trimEndOf } from "@svc/contract";
import { PROGRAM_RULES, type ProgramRule, argumentsAsk, hasConditions } from "./program-rules.ts";

export interface LineRules {
  /** Each entry is a program, or a program and its first words (`git status`), as they must stand in the line. */
  readonly allowedCommands: readonly string[];
  readonly forbiddenPaths: readonly string[];
  /** Absolute real path. */
  readonly workspace: string;
  /** Where the line starts, relative to the workspace. */
  readonly folder: string;
  /** Default: this system. */
  readonly platform?: NodeJS.Platform;
}

/** Why a person must be asked before the line runs; undefined when every command in it is listed and understood. */
export function judgeLine(line: string, rules: LineRules): string | undefined {
  if (rules.allowedCommands.length === 0) return "security.policy.allowed_commands is empty, so every command asks.";
  const entries = rules.allowedCommands.map((entry) => entry.trim().split(/\s+/));
  const parsed = judged(line, rules, (command) =>
    entries.some((entry) => isListed(command, entry))
      ? undefined
      : "security.policy.allowed_commands does not list every command of the line.",
  );
  return typeof parsed === "string" ? parsed : undefined;
}

export interface ExactLine {
  /** Equal for lines that do the same, and for no others. */
  readonly canonical: string;
}

/**
 * The line as a lasting yes covers it, or why no yes to it may last (`string`). It is held to all that a line of listed commands is held
 * to, but for the list; and what it does may not depend on which files there are.
 */
export function exactLine(line: string, rules: Omit<LineRules, "allowedCommands">): ExactLine | string {
  return judged(line, rules, ({ words, redirects }) => {
    if ([...words, ...redirects].some(({ glob, tilde }) => glob || tilde)) return VARIES;
    const program = words[0]?.text ?? "";
    return program.includes("/") && !isSystemProgram(program) ? OWN_PROGRAM : undefined;
  });
}

/** The parser knows sh. What it takes for one harmless command, cmd.exe may take for two: `^` and `%` mean nothing in sh. */
const NOT_UNDERSTOOD_ON_WINDOWS =
  "Command lines of Windows (cmd.exe, PowerShell) are not understood well enough to run without a person's yes.";

const VARIES = "The line has a pattern of file names, which means something else when files come or go.";
const OWN_PROGRAM = "The line names a program by a path that is no system folder, where another program can be put.";

/** Folders that only the system's owner can write to, spelled without a detour. */
const isSystemProgram = (program: string): boolean =>
  /^\/(?:usr\/(?:local\/)?)?s?bin\/[^/]+$/.test(program) && !/\/\.{1,2}$/.test(program);

/** `judgeListing`: why a command of the line asks, all else aside. */
function judged(
  line: string,
  rules: Omit<LineRules, "allowedCommands">,
  judgeListing: (command: SimpleCommand) => string | undefined,
): ExactLine | string {
  if ((rules.platform ?? process.platform) === "win32") return NOT_UNDERSTOOD_ON_WINDOWS;
  const parsed = parseLine(line);
  if ("unclear" in parsed) return parsed.unclear;
  if (parsed.commands.length === 0) return "The line has no command.";
  for (const command of parsed.commands) {
    const reason = judgeCommand(command, judgeListing);
    if (reason !== undefined) return reason;
  }
  // After a cd, which the parser does not follow, a relative target can be anywhere.
  const moves = parsed.commands.some((command) => /^(?:cd|chdir|pushd|popd)$/.test(command.words[0]?.text ?? ""));
  for (const target of parsed.commands.flatMap((command) => command.redirects)) {
    if (!staysInside(target, rules, moves))
      return "The line redirects to a place outside the workspace, a forbidden one, or a hidden file.";
  }
  return judgeGit(parsed.commands, rules) ?? { canonical: parsed.canonical };
}

/** Git starts the programs that a repository's configuration names, so that has to be known before the line runs, and stay. */
function judgeGit(
  commands: readonly SimpleCommand[],
  rules: Pick<LineRules, "workspace" | "folder">,
): string | undefined {
  const programs = commands.map((command) => command.words[0]?.text ?? "");
  if (!programs.some(isGit)) return undefined;
  if (!programs.every((program) => isGit(program) || onlyReads(program))) {
    return "The line uses git beside a command that may write files or change the folder.";
  }
  if (!isPlainRepository(rules.workspace, rules.folder)) {
    return "The git repository there has submodules, or settings that can name programs.";
  }
  return undefined;
}

function judgeCommand(
  command: SimpleCommand,
  judgeListing: (command: SimpleCommand) => string | undefined,
): string | undefined {
  const [program, ...args] = command.words;
  if (!program) return "The line has a redirection without a command.";
  if (program.glob || program.tilde || program.text.includes("=")) {
    return "The line sets a variable, or names a program by a pattern.";
  }
  if (takesCommands(basename(program.text))) {
    return "The line uses a shell word, interpreter or wrapper that runs other commands, which always asks.";
  }
  const unlisted = judgeListing(command);
  if (unlisted !== undefined) return unlisted;
  if (isRisky(program.text, args)) {
    return "The line gives a listed command options that can make it run other commands, or write or delete files.";
  }
  return undefined;
}

/** A relative path would name a file that the agent itself could have written: programs are bare names or absolute. */
function isListed(command: SimpleCommand, entry: readonly string[]): boolean {
  const program = entry[0] ?? "";
  if (program === "" || (program.includes("/") && !program.startsWith("/"))) return false;
  return entry.every((word, index) => {
    const given = command.words[index];
    return given !== undefined && !given.glob && !given.tilde && given.text === word;
  });
}

/**
 * Whether a redirection opens a file inside the workspace, off the forbidden paths and not hidden, as far as can be told before the
 * line runs: a link made by the line itself is the sandbox's to stop.
 */
function staysInside(target: Word, rules: Omit<LineRules, "allowedCommands">, moves: boolean): boolean {
  if (target.text === "/dev/null") return true;
  if (target.glob || target.tilde || target.text === "" || target.text.split("/").includes("..")) return false;
  if (moves && !isAbsolute(target.text)) return false;
  const path = resolve(rules.workspace, rules.folder, target.text);
  const real = realPathOf(path);
  const forbidden = rules.forbiddenPaths.map((entry) => resolve(rules.workspace, entry));
  return [path, real].every(
    (place) =>
      isInside(place, rules.workspace) &&
      !isHidden(relative(rules.workspace, place)) &&
      !forbidden.some((folder) => isInside(place, folder) || isInside(place, realPathOf(folder))),
  );
}

/** `.git/config` and `.npmrc` tell other programs what to run. */
const isHidden = (path: string): boolean => path.split(sep).some((part) => part.startsWith("."));

/** The real path of what exists of `path`, and the rest as it is written. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPathOf(parent), basename(path));
  }
}

// Programs whose words are other programs: listing them would list everything, so they ask although they are listed.

/** By name without version: `python3.12` is `python`. */
export function takesCommands(program: string): boolean {
  const name = program.toLowerCase();
  return NAMES.has(name) || NAMES.has(trimEndOf(name, "0123456789.-"));
}

/** Whether the arguments of a program that is otherwise harmless make it run another one, or write or delete files. */
function isRisky(program: string, args: readonly Word[]): boolean {
  const rule = ruleOf(program);
  if (!rule || !hasConditions(rule)) return false;
  // A pattern is replaced by file names, and a file can be called `-exec`.
  return (
    args.some((arg) => arg.glob || arg.tilde) ||
    argumentsAsk(
      rule,
      args.map((arg) => arg.text),
    )
  );
}

/** Whether the program makes and changes nothing, with arguments that are not risky. */
const onlyReads = (program: string): boolean => ruleOf(program)?.reads === true;

const isGit = (program: string): boolean => nameOf(program) === "git";

const ruleOf = (program: string): ProgramRule | undefined => PROGRAM_RULES.get(nameOf(program));

const nameOf = (program: string): string => program.slice(program.lastIndexOf("/") + 1).toLowerCase();

const words = (text: string): string[] => text.trim().split(/\s+/);

const NAMES: ReadonlySet<string> = new Set([
  // Reserved words and builtins that run text, change what a name means, or set variables such as PATH.
  ...words(`! [[ ]] { } if then else elif fi for while until do done case esac in function select time coproc
    . source eval exec command builtin trap alias unalias enable export readonly local declare typeset set unset shift
    read readarray mapfile getopts let hash shopt bind complete compgen fc return break continue`),
  // Shells, and programs that contain one.
  ...words(
    `sh bash dash ash zsh ksh ksh93 mksh yash csh tcsh fish rbash pwsh powershell cmd busybox toybox nu elvish xonsh`,
  ),
  // Languages, and tools whose input is a program.
  ...words(`python pypy ipython node nodejs deno bun perl ruby irb php lua luajit tclsh wish expect guile racket sbcl clisp
    ghci runghc erl escript elixir iex julia r rscript octave java jshell groovy scala kotlin swift dotnet mono awk gawk
    mawk nawk bc dc m4 jrunscript gdb lldb sqlite sqlite3 psql mysql mariadb mongo mongosh redis-cli gnuplot ghostscript gs
    tex latex pdflatex xelatex lualatex pandoc exiftool openssl gpg gpg2 gpgsm gpgconf original-awk goawk pgcli mycli litecli
    pg_dump pg_restore mysqldump duckdb clickhouse`),
  // Wrappers: the rest of the line is another command.
  ...words(`env xargs parallel nohup timeout nice ionice chrt taskset setsid setarch stdbuf unbuffer script watch entr flock
    sudo doas su runuser pkexec run0 chroot unshare nsenter bwrap firejail systemd-run start-stop-daemon daemon strace ltrace
    perf valgrind catchsegv ld.so prlimit cgexec numactl tmux screen dtach at batch crontab run-parts xdg-open open logrotate
    ssh ssh-keygen ssh-add ssh-agent ssh-copy-id autossh mosh scp sftp rsync rclone rsh telnet ftp lftp nc ncat netcat socat ip tcpdump nmap mount systemctl service launchctl osascript
    ldd ld-linux.so ld-linux-x86-64.so ld-linux-aarch64.so ld-musl pldd gdbserver rr uftrace bpftrace watchexec hyperfine
    which-command chpst setuidgid softlimit envdir dbus-run-session xvfb-run faketime proot fakeroot torsocks proxychains`),
  // Build tools and package managers run what files say, files that the agent can write.
  ...words(`make gmake bmake ninja meson cmake ctest bazel buck rake scons tup just task npm npx pnpm pnpx yarn bunx corepack
    pip pipx uv uvx poetry conda cargo rustc go gcc g++ cc c++ clang clang++ ld as javac mvn gradle gradlew ant sbt gem bundle
    bundler composer docker podman nerdctl kubectl helm vagrant ansible ansible-playbook terraform nix nix-shell nix-build
    hg svn bzr cvs darcs fossil jj gh glab tig lazygit ack eslint prettier stylelint webpack vite rollup mocha ava gulp grunt
    turbo nx lerna tsx ts-node libtool autoconf automake aclocal
    apt apt-get dpkg rpm dnf yum apk pacman brew snap flatpak pre-commit tox nox pytest jest vitest`),
  // Editors and pagers with a shell escape.
  ...words(
    `vi vim vimdiff view nvim ex ed emacs nano pico joe micro less more most man apropos info bat batcat pg
    zless zmore bzless bzmore xzless xzmore lzless lzmore rview rvim gvim gview evim vimtutor emacsclient kak helix hx ne jed
    mc ranger nnn lf vifm lynx w3m links mutt`,
  ),
]);

// Whether the repository that git would use in a folder has an ordinary configuration. `filter.<name>.clean`, `diff.<name>.textconv`,
// `merge.<name>.driver`, `diff.external` and `remote.<name>.uploadpack` name programs that `git status` or `git diff` start, and no
// variable of the environment switches them off. So a line with git asks unless every setting is one that is known to name no program. What
// is read here can change before git reads it: another listed program must not share the line, and a command that writes hidden paths asks.

/** `folder`: where the line starts, relative to the workspace. False when in doubt. */
function isPlainRepository(workspace: string, folder: string): boolean {
  try {
    let place = realpathSync(resolve(workspace, folder));
    if (!isInside(place, workspace)) return false;
    if (
      relative(workspace, place)
        .split(sep)
        .some((part) => part.startsWith("."))
    )
      return false;
    for (;;) {
      const repository = join(place, ".git");
      const stats = lstatSync(repository, { throwIfNoEntry: false });
      // Git passes over one that is not whole, so those above count too.
      if (stats && !(stats.isDirectory() && isPlain(place, repository))) return false;
      // Git takes a folder with a HEAD for a repository without a working tree, whose configuration lies beside it.
      if (existsSync(join(place, "HEAD"))) return false;
      if (place === workspace) return true;
      place = dirname(place);
    }
  } catch {
    return false;
  }
}

function isPlain(top: string, repository: string): boolean {
  // `commondir` moves the configuration elsewhere; submodules have repositories and settings of their own.
  if (existsSync(join(repository, "commondir")) || existsSync(join(top, ".gitmodules"))) return false;
  return (
    isPlainConfig(readFile(join(repository, "config"))?.toString("utf8") ?? "") &&
    !hasSubmodules(readFile(join(repository, "index")))
  );
}

/** Settings that name no program, and that git and its front ends write by themselves. Subsections count as their section. */
const PLAIN_SETTINGS = new Set(
  `core.repositoryformatversion core.filemode core.bare core.logallrefupdates core.ignorecase core.precomposeunicode
   core.symlinks core.autocrlf core.eol core.safecrlf core.quotepath core.abbrev core.compression core.whitespace
   core.commentchar core.trustctime core.preloadindex core.longpaths
   remote.url remote.pushurl remote.fetch remote.push remote.tagopt remote.prune remote.mirror remote.gh-resolved
   branch.remote branch.merge branch.rebase branch.pushremote branch.description branch.sort branch.autosetuprebase
   branch.autosetupmerge branch.vscode-merge-base branch.gh-merge-base
   user.name user.email author.name author.email committer.name committer.email
   init.defaultbranch pull.rebase pull.ff push.default push.autosetupremote push.followtags fetch.prune merge.ff
   merge.conflictstyle rerere.enabled rebase.autostash rebase.autosquash color.ui color.diff color.status color.branch
   log.date log.decorate diff.algorithm diff.renames diff.colormoved diff.noprefix diff.mnemonicprefix status.short
   status.branch status.showuntrackedfiles tag.sort column.ui`
    .trim()
    .split(/\s+/),
);

const BLANK = /^\s*(?:[#;].*)?$/;
const SECTION = /^\s*\[([A-Za-z0-9-]+)(?: "[^"\\]*")?\]\s*$/;
/** No backslash: it could continue the line. */
const SETTING = /^\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=[^\\]*)?$/;

function isPlainConfig(text: string): boolean {
  let section = "";
  return text.split(/\r?\n/).every((line) => {
    if (BLANK.test(line)) return !line.includes("\\");
    const opened = SECTION.exec(line)?.[1];
    if (opened !== undefined) {
      section = opened.toLowerCase();
      return true;
    }
    const key = SETTING.exec(line)?.[1];
    return key !== undefined && PLAIN_SETTINGS.has(`${section}.${key.toLowerCase()}`);
  });
}

/**
 * Whether the index holds a submodule: git runs itself there, with that repository's settings. gitformat-index(5). True when in
 * doubt.
 */
function hasSubmodules(index: Buffer | undefined): boolean {
  if (!index) return false;
  const version = index.readUInt32BE(4);
  if (index.toString("latin1", 0, 4) !== "DIRC" || version < 2 || version > 4) return true;
  let at = 12;
  for (let left = index.readUInt32BE(8); left > 0; left -= 1) {
    if (index.readUInt32BE(at + 24) >>> 12 === GITLINK) return true;
    const flags = index.readUInt16BE(at + 60);
    let name = at + 62 + (flags & EXTENDED ? 2 : 0);
    if (version === 4) while (index.readUInt8(name++) & 0x80);
    const end = index.indexOf(0, name);
    if (end === -1) return true;
    at = version === 4 ? end + 1 : at + ((end - at + 8) & ~7);
  }
  // Extensions, up to the checksum: a shared index holds more entries.
  for (; at + 8 <= index.length - CHECKSUM_BYTES; at += 8 + index.readUInt32BE(at + 4)) {
    if (index.toString("latin1", at, at + 4) === "link") return true;
  }
  return false;
}

const GITLINK = 0o16;
const EXTENDED = 0x4000;
const CHECKSUM_BYTES = 20;

const MAX_BYTES = 16 * 1024 * 1024;

/** Undefined where the file is missing. Throws for a link, a pipe and a file that is too large. */
function readFile(path: string): Buffer | undefined {
  if (!lstatSync(path, { throwIfNoEntry: false })) return undefined;
  const file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    const stats = fstatSync(file);
    const { size } = stats;
    if (!stats.isFile() || size > MAX_BYTES) throw new Error("not a file of git");
    const bytes = Buffer.alloc(size);
    return bytes.subarray(0, readSync(file, bytes, 0, size, 0));
  } finally {
    closeSync(file);
  }
}
