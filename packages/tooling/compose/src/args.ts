/** What `pnpm build` and `pnpm dev` understand on the command line. */
import { SvcError } from "@svc/contract";
import { parseArgs } from "node:util";
import type { Request } from "./select.ts";
import { targetOf } from "./target.ts";

export interface BuildArgs {
  /** Undefined with `--all`. */
  readonly request: Request;
  readonly all: boolean;
  readonly force: boolean;
  readonly json: boolean;
  readonly help: boolean;
  /** What comes after `--`. */
  readonly rest: readonly string[];
}

const OPTIONS = {
  with: { type: "string", multiple: true },
  without: { type: "string", multiple: true },
  target: { type: "string" },
  all: { type: "boolean" },
  force: { type: "boolean", short: "f" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

/**
 * @param cwd Folder that a path in `--with` starts at.
 * @throws SvcError USAGE
 */
export function parseBuildArgs(argv: readonly string[], cwd: string): BuildArgs {
  const end = argv.indexOf("--");
  const mine = end === -1 ? argv : argv.slice(0, end);
  const { values, positionals } = parsed(mine);
  const [profile, ...more] = positionals;
  if (more.length > 0) throw usage("One profile at a time; --all builds every one.");
  const all = values.all === true;
  if (all && (profile ?? values.with ?? values.without) !== undefined) {
    throw usage("--all takes no profile, no --with and no --without.");
  }
  return {
    request: {
      profile: profile ?? "minimal",
      with: words(values.with),
      without: words(values.without),
      cwd,
      ...(values.target !== undefined && { target: targetOf(values.target) }),
    },
    all,
    force: values.force === true,
    json: values.json === true,
    help: values.help === true,
    rest: end === -1 ? [] : argv.slice(end + 1),
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true, strict: true });
  } catch (error) {
    throw usage(`${(error as Error).message.split(". ")[0]}.`, error);
  }
}

function usage(message: string, cause?: unknown): SvcError {
  return new SvcError("USAGE", message, { hint: "pnpm build --help shows examples.", cause });
}

/** `--with a,b --with c` → a, b, c. */
function words(values: readonly string[] | undefined): string[] {
  return (values ?? [])
    .flatMap((value) => value.split(","))
    .map((word) => word.trim())
    .filter((word) => word !== "");
}
