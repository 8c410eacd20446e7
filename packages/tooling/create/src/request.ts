/** Arguments of `pnpm new`. */
import { parseArgs } from "node:util";
import { SvcError } from "@svc/contract";
import { closest, distance } from "fastest-levenshtein";
import { type Kind, KINDS, PREFIX } from "./kinds.ts";

export interface Request {
  readonly kind: Kind;
  /** Without the kind's prefix, e.g. `wall-clock`. */
  readonly name: string;
  readonly dryRun: boolean;
}

const OPTIONS = { "dry-run": { type: "boolean", default: false } } as const;
const NAME = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;
const LONGEST_NAME = 40;
/** Words that are folders beside features or have a meaning of their own. */
const RESERVED = new Set(["custom", "planned", "node-modules", "readme", "src", "test"]);

/** Throws USAGE, saying what was probably meant. A received word is shown only where it is one of ours. */
export function readRequest(argv: readonly string[]): Request {
  const flag = argv.find((word) => word.startsWith("-") && word !== "--" && !(word.slice(2) in OPTIONS));
  if (flag !== undefined) throw usage(`There is no such option.${near(flag, ["--dry-run", "--help"])}`);
  const { values, positionals } = parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true });
  const [kind, name, ...rest] = positionals;
  if (kind === undefined) throw usage(`Say what to make: ${KINDS.join(", ")}.`);
  if (!isKind(kind)) throw usage(`There is no such kind. Kinds: ${KINDS.join(", ")}.${near(kind, KINDS)}`);
  if (name === undefined) throw usage(`Give the ${kind} a name.`);
  if (rest.length > 0) throw usage("One name, one package: join the words of a name with hyphens.");
  return { kind, name: checkName(kind, name), dryRun: values["dry-run"] };
}

function checkName(kind: Kind, name: string): string {
  const prefix = PREFIX[kind];
  if (prefix !== "" && name.startsWith(prefix)) {
    throw usage(`The folder gets the prefix "${prefix}" by itself; give the name without it.`);
  }
  const other = KINDS.find((one) => PREFIX[one] !== "" && name.startsWith(PREFIX[one]));
  if (other !== undefined) throw usage(`A name with that prefix is a ${other}: pnpm new ${other} <name>.`);
  if (!NAME.test(name) || name.length > LONGEST_NAME) {
    const proposal = toName(name);
    const hint = NAME.test(proposal) ? ` Did you mean "${proposal}"?` : "";
    throw usage(`A name is lower-case words and digits joined by hyphens, at most ${LONGEST_NAME} characters.${hint}`);
  }
  if (RESERVED.has(name)) throw usage("That name has another meaning in this repository; choose another.");
  return name;
}

/** `WallClock`, `wall_clock`, `Wall clock!` → `wall-clock`. */
const toName = (text: string): string =>
  text
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, LONGEST_NAME)
    .replace(/-+$/, "");

const isKind = (word: string): word is Kind => (KINDS as readonly string[]).includes(word);

function near(word: string, words: readonly string[]): string {
  const found = closest(word, [...words]);
  return distance(word, found) <= Math.max(2, Math.floor(word.length / 3)) ? ` Did you mean ${found}?` : "";
}

const usage = (message: string): SvcError => new SvcError("USAGE", message, { hint: "See: pnpm new --help" });
