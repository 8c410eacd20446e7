/** A suite is a list of named checks: vitest runs them as tests, the suite's own tests run them against broken fakes. */
/* oxlint-disable vitest/valid-title, vitest/expect-expect -- here titles and assertions are those of the checks */
import { describe, test } from "vitest";

export interface Check {
  /** The rule, as a sentence without a full stop. */
  readonly name: string;
  /** Throws when the rule is broken; the message says how. */
  run(): void | Promise<void>;
}

export interface CheckResult {
  readonly name: string;
  readonly error: unknown;
}

/** Turns checks into the tests of a `describe` block. */
export function describeChecks(title: string, checks: readonly Check[]): void {
  describe(title, () => {
    for (const check of checks) test(check.name, () => check.run());
  });
}

/** Runs every check, one after the other; resolves with those that failed. */
export async function failures(checks: readonly Check[]): Promise<CheckResult[]> {
  const failed: CheckResult[] = [];
  for (const check of checks) {
    try {
      await check.run();
    } catch (error) {
      failed.push({ name: check.name, error });
    }
  }
  return failed;
}

/** Fails a check. */
export function demand(held: boolean, message: string): asserts held {
  if (!held) throw new Error(message);
}

/**
 * How long something may take that must happen at once. Only what hangs takes this long, so a slow machine passes too.
 */
export const PROMPT_MS = 20_000;

/** What became of `work`, or `hung` when it did not end in PROMPT_MS. */
export async function outcomeOf<T>(
  work: () => T | Promise<T>,
  limitMs: number = PROMPT_MS,
): Promise<{ kind: "resolved"; value: T } | { kind: "rejected"; error: unknown } | { kind: "hung" }> {
  let timer: NodeJS.Timeout | undefined;
  const hung = new Promise<{ kind: "hung" }>((resolve) => {
    timer = setTimeout(() => resolve({ kind: "hung" }), limitMs);
  });
  const ended = (async () => work())().then(
    (value) => ({ kind: "resolved", value }) as const,
    (error: unknown) => ({ kind: "rejected", error }) as const,
  );
  try {
    return await Promise.race([ended, hung]);
  } finally {
    clearTimeout(timer);
  }
}

/** A thrown value for a message. */
export const errorText = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error);
