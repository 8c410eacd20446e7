/** Arguments of `npm run checks`. */
import { parseArgs } from "node:util";
import { closest } from "fastest-levenshtein";

export interface Arguments {
  readonly json: boolean;
  readonly write: boolean;
  readonly help: boolean;
  /** Ids of the checks to run; empty: all. */
  readonly only: readonly string[];
}

const FLAGS = ["--json", "--write", "--help", "--only"];

/** Throws an `Error` with the fault and a suggestion. */
export function readArguments(argv: readonly string[], ids: readonly string[]): Arguments {
  const flag = argv.find((word) => word.startsWith("-") && word !== "-h" && !FLAGS.includes(word.split("=")[0] ?? ""));
  if (flag !== undefined) throw new Error(`There is no option ${flag}. Did you mean ${closest(flag, FLAGS)}?`);
  const { values } = parseArgs({
    args: [...argv],
    options: {
      json: { type: "boolean", default: false },
      write: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
      only: { type: "string", multiple: true, default: [] },
    },
  });
  const only = values.only.flatMap((list) => list.split(",")).filter((id) => id !== "");
  const unknown = only.find((id) => !ids.includes(id));
  if (unknown !== undefined)
    throw new Error(`There is no check ${unknown}. Did you mean ${closest(unknown, [...ids])}?`);
  return { json: values.json, write: values.write, help: values.help, only };
}
