/** Runs one command line: finds the command, shows help, turns errors into a message and an exit code. */
import { EXIT, SvcError } from "@svc/contract";
import type { Build } from "./main.ts";
import type { CommandContext, CommandEntry } from "./cli/command.ts";
import { checkArguments, commandWord, parseWords } from "./cli/options.ts";
import { COMMANDS } from "./command-table.ts";

/** Resolves with the exit code; never rejects. */
export async function runCli(build: Build, words: readonly string[]): Promise<number> {
  const json = words.includes("--json");
  watchOutput(words[0] === "daemon");
  // Whatever svc writes (database, keys, sockets, files of the agent) is its owner's alone.
  process.umask(0o077);
  try {
    const [word, ...rest] = words;
    if (word === undefined || word === "help" || isHelp(word)) return await help(build, rest[0]);
    if (word === COMPLETE)
      return await (await import("./commands/completions.ts")).complete(contextOf(build, rest, NONE));
    const entry = COMMANDS.find((entry) => commandWord(entry) === word);
    if (!entry) throw await unknownCommand(build, word);
    if (rest.some(isHelp)) return await help(build, word);
    const { args: typed, options } = parseWords(entry, rest);
    const args = typed.length === 0 ? argsOfBare(entry) : typed;
    if (args === undefined) return await help(build, word);
    checkArguments(entry, args);
    const startTrace = options.flag(TRACE_START) ? (await import("./cli/start-trace.ts")).traceStart() : undefined;
    const [{ run }, { finishInterrupted }] = await Promise.all([entry.load(), import("./backup/interrupted.ts")]);
    await finishInterrupted(process.env);
    return await run({ ...contextOf(build, args, options), startTrace });
  } catch (error) {
    return reportError(error, json);
  }
}

/** A group of actions that is named alone lists what it has; undefined: it has no list, and its help is shown. */
function argsOfBare({ actions, usage }: CommandEntry): readonly string[] | undefined {
  if (!actions || !usage.endsWith(" <action>")) return [];
  return actions.includes("list") ? ["list"] : undefined;
}

function contextOf(build: Build, args: readonly string[], options: CommandContext["options"]): CommandContext {
  const print = (text: string): void => void process.stdout.write(`${text}\n`);
  return { build, env: process.env, args, options, print, printJson: (value) => print(plainJson(value)) };
}

/** JSON itself leaves DEL, C1 and bidirectional marks as they are; escaped they mean the same and drive no terminal. */
const plainJson = (value: unknown): string =>
  JSON.stringify(value, null, 2).replace(
    /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

async function help(build: Build, word: string | undefined): Promise<number> {
  const entry = word === undefined ? undefined : COMMANDS.find((entry) => commandWord(entry) === word);
  if (word !== undefined && !isHelp(word) && !entry) throw await unknownCommand(build, word);
  const { showHelp } = await import("./cli/help.ts");
  showHelp(build, entry);
  return 0;
}

/** An option of the daemon. Recording begins before the command's code is loaded. */
const TRACE_START = "trace-start";

/** What the scripts of `svc completions` ask; no command, and so in no list. */
const COMPLETE = "__complete";
const NONE: CommandContext["options"] = { text: () => undefined, texts: () => [], flag: () => false };

const isHelp = (word: string): boolean => word === "--help" || word === "-h";

async function unknownCommand(build: Build, word: string): Promise<SvcError> {
  const [{ absentCommand }, { catalogue }] = await Promise.all([import("./commands/feature-command.ts"), build.load()]);
  const absent = absentCommand(word, catalogue);
  if (absent) return absent;
  const { distance } = (await import("fastest-levenshtein")).default;
  const near = COMMANDS.map((entry: CommandEntry) => commandWord(entry)).toSorted(
    (a, b) => distance(word, a) - distance(word, b),
  )[0]!;
  const close = distance(word, near) <= 2;
  return new SvcError("USAGE", "There is no command of that name.", {
    hint: close ? `Did you mean: svc ${near}? All commands: svc --help` : "All commands: svc --help",
  });
}

/** An error as a person or a script gets it, on standard error; unexpected ones come with a stack. Returns the exit code. */
async function reportError(error: unknown, json: boolean): Promise<number> {
  const known = error instanceof SvcError ? error : undefined;
  if (json) {
    const body = known
      ? {
          error: known.message,
          code: known.code,
          ...(known.hint && { hint: known.hint }),
          ...(known.said && { said: known.said }),
          ...("problems" in known && { problems: known.problems }),
        }
      : { error: "Something unexpected went wrong.", code: "INTERNAL" };
    process.stderr.write(`${JSON.stringify(body)}\n`);
  } else {
    const { createConsola } = await import("consola");
    const screen = createConsola({ stdout: process.stderr, stderr: process.stderr });
    if (known) {
      const { printable } = await import("./cli/output.ts");
      const said = known.said ? `\nThe provider says: ${printable(known.said)}` : "";
      screen.error(`${known.message}${said}${known.hint ? `\n${known.hint}` : ""}  [${known.code}]`);
    } else screen.error(error);
  }
  return known ? known.exitCode : EXIT.software;
}

/**
 * A reader that goes away early (`svc status | head`) is not an error; a full disk under a redirected output is one.
 * A daemon outlives both: losing its log must not lose its turns.
 */
function watchOutput(isDaemon: boolean): void {
  process.stderr.on("error", () => {});
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (!isDaemon) endFor(error);
  });
}

/** Ends the process. */
export function endFor(error: NodeJS.ErrnoException): never {
  if (error.code === "EPIPE") process.exit(EXIT.ok);
  process.stderr.write(`svc: the output could not be written (${error.code ?? "unknown"})\n`);
  process.exit(EXIT.io);
}
