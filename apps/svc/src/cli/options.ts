/**
 * Options and arguments of one command. node:util's parser, not cac's: cac turns `007` into 7 and `1e3` into 1000, which a
 * message must survive. cac lays out the help.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { ParseArgsOptionsConfig } from "node:util";
import { type CommandOptions, SvcError } from "@svc/contract";
import type { CommandContext, CommandEntry } from "./command.ts";

// Not by `import`: that reads every export of node:util, among them ones that take 6 ms to make.
const { parseArgs } = process.getBuiltinModule("node:util");

export interface Parsed {
  readonly args: readonly string[];
  readonly options: CommandOptions;
}

/** Reads what follows the command's word. Throws USAGE for what the command does not know. */
export function parseWords(entry: CommandEntry, words: readonly string[]): Parsed {
  try {
    const args = words.map((word) => (isLikeAnOption(word, entry) ? `\0${word}` : word));
    const { values, positionals } = parseArgs({ args, options: optionsOf(entry), allowPositionals: true });
    return {
      args: positionals.map(shown),
      options: {
        text: (name) => {
          const value = values[name];
          return typeof value === "string" ? shown(value) : undefined;
        },
        texts: (name) => {
          const value = values[name];
          return Array.isArray(value) ? value.map((each) => shown(String(each))) : [];
        },
        flag: (name) => values[name] === true,
      },
    };
  } catch (cause) {
    throw usage(entry, SENTENCES[(cause as { code?: string }).code ?? ""] ?? "The options are wrong.", cause);
  }
}

/**
 * `-100123` is a chat, `-kZ3vQ9w_0aXb` a passkey, and neither is options: behind a mark that no shell can hand over, the parser
 * takes it for a word.
 */
const isLikeAnOption = (word: string, { options }: CommandEntry): boolean =>
  /^-\d/.test(word) ||
  (/^-[A-Za-z0-9_][\w-]{10,}$/.test(word) && !options.some(([flags]) => flags.startsWith(word.slice(0, 2))));
const shown = (word: string): string => word.replace(/^\0/, "");

/** Throws USAGE when an argument is missing, unknown, or there is one too many. */
export function checkArguments(entry: CommandEntry, args: readonly string[]): void {
  const [first, ...others] = entry.usage.split(" ").slice(1);
  const action = entry.actions && actionOf(entry, args[0]);
  const said = [commandWord(entry), ...(action ? [args[0]] : [])].join(" ");
  const wanted = [...(first === undefined ? [] : [first]), ...others, ...(action ? action.split(" ").slice(1) : [])];
  const required = wanted.filter((argument) => argument.startsWith("<"));
  if (args.length < required.length) throw usage(entry, `svc ${said} needs ${required[args.length]}.`);
  if (args.length > wanted.length) {
    throw usage(entry, wanted.length === 0 ? `svc ${said} takes no arguments.` : `svc ${said} takes fewer arguments.`);
  }
}

function actionOf(entry: CommandEntry, given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  const action = entry.actions?.find((action) => actionWord(action) === given);
  if (action !== undefined) return action;
  throw usage(entry, `svc ${commandWord(entry)} knows: ${entry.actions?.map(actionWord).join(", ")}.`);
}

export const commandWord = (entry: CommandEntry): string => entry.usage.split(" ")[0]!;
export const actionWord = (action: string): string => action.split(" ")[0]!;

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
    const long = /--([a-z0-9-]+)/.exec(flags)![1]!;
    const short = /(?:^|\s)-([a-zA-Z]),/.exec(flags)?.[1];
    const multiple = flags.endsWith("...");
    options[long] = {
      type: flags.includes("<") ? "string" : "boolean",
      ...(short && { short }),
      ...(multiple && { multiple }),
    };
  }
  return options;
}

/** `--config`: another file than the home's own. A file named there must exist: throws CONFIG_NOT_FOUND, and USAGE for a blank name. */
export function fileOption({ options }: Pick<CommandContext, "options">): { file?: string } {
  const named = options.text("config");
  if (named === undefined) return {};
  if (named.trim() === "") throw new SvcError("USAGE", "--config needs the path of a file.");
  const file = resolve(named);
  if (!existsSync(file))
    throw new SvcError("CONFIG_NOT_FOUND", undefined, { hint: "Check the path given with --config." });
  return { file };
}
