import { basename } from "node:path";
import { isGit, isRisky, onlyReads, takesCommands } from "./commands-that-run-commands.ts";
import { isPlainRepository } from "./git-repository.ts";
import { staysInside } from "./redirect-target.ts";
import { parseLine, type SimpleCommand } from "./shell-syntax.ts";

export interface LineRules {
  /** Each entry is a program, or a program and its first words (`git status`), as they must stand in the line. */
  readonly allowedCommands: readonly string[];
  readonly forbiddenPaths: readonly string[];
  /** Absolute real path. */
  readonly workspace: string;
  /** Where the line starts, relative to the workspace. */
  readonly folder: string;
}

/** Why a person must be asked before the line runs; undefined when every command in it is listed and understood. */
export function judgeLine(line: string, rules: LineRules): string | undefined {
  if (rules.allowedCommands.length === 0) return "security.policy.allowed_commands is empty, so every command asks.";
  const parsed = parseLine(line);
  if ("unclear" in parsed) return parsed.unclear;
  if (parsed.commands.length === 0) return "The line has no command.";
  const entries = rules.allowedCommands.map((entry) => entry.trim().split(/\s+/));
  for (const command of parsed.commands) {
    const reason = judgeCommand(command, entries);
    if (reason !== undefined) return reason;
  }
  // After a cd, which the parser does not follow, a relative target can be anywhere.
  const moves = parsed.commands.some((command) => /^(?:cd|chdir|pushd|popd)$/.test(command.words[0]?.text ?? ""));
  for (const target of parsed.commands.flatMap((command) => command.redirects)) {
    if (!staysInside(target, rules, moves))
      return "The line redirects to a place outside the workspace, a forbidden one, or a hidden file.";
  }
  return judgeGit(parsed.commands, rules);
}

/** Git starts the programs that a repository's configuration names, so that has to be known before the line runs, and stay. */
function judgeGit(commands: readonly SimpleCommand[], rules: LineRules): string | undefined {
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

function judgeCommand(command: SimpleCommand, entries: readonly (readonly string[])[]): string | undefined {
  const [program, ...args] = command.words;
  if (!program) return "The line has a redirection without a command.";
  if (program.glob || program.tilde || program.text.includes("=")) {
    return "The line sets a variable, or names a program by a pattern.";
  }
  if (takesCommands(basename(program.text))) {
    return "The line uses a shell word, interpreter or wrapper that runs other commands, which always asks.";
  }
  if (!entries.some((entry) => isListed(command, entry))) {
    return "security.policy.allowed_commands does not list every command of the line.";
  }
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
