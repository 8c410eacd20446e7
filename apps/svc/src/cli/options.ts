/**
 * Options and arguments of one command. node:util's parser, not cac's: cac turns `007` into 7 and `1e3` into 1000, which a
 * message must survive. cac lays out the help.
 */
import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import { SvcError } from "@svc/contract";
import type { CommandEntry, Options } from "./command.ts";

export interface Parsed {
  readonly args: readonly string[];
  readonly options: Options;
}

/** Reads what follows the command's word. Throws USAGE for what the command does not know. */
export function parseWords(entry: CommandEntry, words: readonly string[]): Parsed {
  try {
    const { values, positionals } = parseArgs({ args: [...words], options: optionsOf(entry), allowPositionals: true });
    return {
      args: positionals,
      options: {
        text: (name) => {
          const value = values[name];
          return typeof value === "string" ? value : undefined;
        },
        flag: (name) => values[name] === true,
      },
    };
  } catch (cause) {
    throw usage(entry, SENTENCES[(cause as { code?: string }).code ?? ""] ?? "The options are wrong.", cause);
  }
}

/** Throws USAGE when an argument is missing, unknown, or there is one too many. */
export function checkArguments(entry: CommandEntry, args: readonly string[]): void {
  const wanted = entry.usage.split(" ").slice(1);
  const required = wanted.filter((argument) => argument.startsWith("<"));
  if (args.length < required.length) throw usage(entry, `svc ${commandWord(entry)} needs ${required[args.length]}.`);
  if (args.length > wanted.length) throw usage(entry, `svc ${commandWord(entry)} takes fewer arguments.`);
  if (entry.actions && !entry.actions.includes(args[0]!)) {
    throw usage(entry, `svc ${commandWord(entry)} knows: ${entry.actions.join(", ")}.`);
  }
}

export const commandWord = (entry: CommandEntry): string => entry.usage.split(" ")[0]!;

const SENTENCES: Readonly<Record<string, string>> = {
  ERR_PARSE_ARGS_UNKNOWN_OPTION: "There is no option of that name.",
  ERR_PARSE_ARGS_INVALID_OPTION_VALUE: "An option lacks its value, or has one it does not take.",
};

function usage(entry: CommandEntry, message: string, cause?: unknown): SvcError {
  return new SvcError("USAGE", message, { hint: `See: svc ${commandWord(entry)} --help`, cause });
}

/** `-m, --message <text>` → message: string with the short name m. */
function optionsOf(entry: CommandEntry): ParseArgsOptionsConfig {
  const options: ParseArgsOptionsConfig = {};
  for (const [flags] of entry.options) {
    const long = /--([a-z-]+)/.exec(flags)![1]!;
    const short = /(?:^|\s)-([a-zA-Z]),/.exec(flags)?.[1];
    options[long] = { type: flags.includes("<") ? "string" : "boolean", ...(short && { short }) };
  }
  return options;
}
