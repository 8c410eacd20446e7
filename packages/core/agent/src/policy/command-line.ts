import { realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { isInside } from "../workspace/path-rules.ts";
import { isGit, isRisky, onlyReads, takesCommands } from "./commands-that-run-commands.ts";
import { isPlainRepository } from "./git-repository.ts";
import { parseLine, type SimpleCommand, type Word } from "./shell-syntax.ts";

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
