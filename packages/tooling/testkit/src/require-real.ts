/**
 * Tests against real parts: servers, sandboxes, browsers. Where a part is not installed the test is skipped with a
 * reason that shows in the summary; a machine that promises to have them (`SVC_REQUIRE_REAL=1`) fails instead.
 */
import type { TestContext } from "vitest";

/** `A`: every CI run has it. `B`: installed at release or when touched; its absence is counted, never a failure. */
export type RealTier = "A" | "B";

export interface MissingPart {
  /** What is missing: "bubblewrap". */
  readonly name: string;
  /** Why, and how to get it: "bwrap is not on PATH; apt-get install bubblewrap". */
  readonly reason: string;
  readonly tier?: RealTier;
}

/** Ends the running test: skipped, or failed where tier A parts are required. Call it when the part is missing. */
export function requireReal(
  context: Pick<TestContext, "skip">,
  { name, reason, tier = "A" }: MissingPart,
  env: Readonly<Record<string, string | undefined>> = process.env,
): never {
  if (tier === "A" && env["SVC_REQUIRE_REAL"] === "1") {
    throw new Error(`${name} is required here (SVC_REQUIRE_REAL=1) and missing: ${reason}`);
  }
  return context.skip(`real part missing (tier ${tier}): ${name}: ${reason}`);
}

declare module "vitest" {
  interface TaskMeta {
    /** Why a test that never comes to run was skipped: `npm test` counts it with this. */
    skipReason?: string;
  }
}
