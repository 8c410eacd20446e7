/** What is wrong with a configuration, told all at once and without a single received value. */
import { type ErrorCode, SvcError } from "@svc/contract";
import { basename } from "node:path";

export interface Problem {
  readonly code: ErrorCode;
  /** Absolute path of the file it is in; absent when an environment variable is to blame. */
  readonly file?: string;
  /** From 1. */
  readonly line?: number;
  /** From 1, in UTF-16 units. */
  readonly column?: number;
  /** Dotted key; empty for a file that can't be parsed. */
  readonly key: string;
  readonly message: string;
  /** What would be right: names of keys, values, a range. */
  readonly allowed?: string;
  readonly didYouMean?: string;
  /** The environment variable to blame. */
  readonly env?: string;
}

/** Code: that of all problems when they agree, else CONFIG_INVALID. */
export class ConfigError extends SvcError {
  readonly problems: readonly Problem[];

  constructor(file: string, problems: readonly Problem[], options: { cause?: unknown } = {}) {
    const codes = new Set(problems.map((problem) => problem.code));
    const [code = "CONFIG_INVALID"] = codes;
    const count = problems.length === 1 ? "a problem" : `${problems.length} problems`;
    super(codes.size === 1 ? code : "CONFIG_INVALID", `${file} has ${count}:\n${indented(problems)}`, {
      hint: "Correct this, then run `svc config check`.",
      ...options,
    });
    this.name = "ConfigError";
    this.problems = problems;
  }
}

/** `config.toml:12  gateway.prot: unknown key; did you mean "port"? (allowed: host, port, …)`, a line each. */
export function formatProblems(problems: readonly Problem[]): string {
  return problems.map(formatProblem).join("\n");
}

function formatProblem({ file, line, column, key, message, allowed, didYouMean, env }: Problem): string {
  // A syntax error is found by its column; a key is found by its name.
  const place = [file && basename(file), line, key === "" ? column : undefined].filter((part) => part !== undefined);
  const where = env ?? place.join(":");
  const what = key === "" ? message : `${key}: ${message}`;
  const guess = didYouMean === undefined ? "" : `; did you mean "${didYouMean}"?`;
  const rest = allowed === undefined ? "" : ` (allowed: ${didYouMean === undefined ? allowed : shortened(allowed)})`;
  return `${where}  ${what}${guess}${rest}`;
}

/** Beside a good guess a long list is noise. */
function shortened(allowed: string): string {
  const items = allowed.split(", ");
  return items.length <= 5 ? allowed : [...items.slice(0, 4), "…"].join(", ");
}

const indented = (problems: readonly Problem[]): string => formatProblems(problems).replace(/^/gm, "  ");
