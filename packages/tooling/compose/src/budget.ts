/** A profile's `[budget]`: a larger binary is an error of the build. */
import { SvcError } from "@svc/contract";
import type { BuildRecord } from "./build-record.ts";
import type { Budget } from "./profile.ts";

/** @throws SvcError BUDGET_EXCEEDED, every limit that is passed. */
export function checkBudget(
  name: string,
  budget: Budget,
  used: Required<{ [Key in keyof Budget]: number }>,
): BuildRecord["budget"] {
  const lines: Record<string, { limit: number; used: number }> = {};
  for (const key of ["binary_mb", "js_kb", "entry_kb", "page_kb", "page_first_kb"] as const) {
    const limit = budget[key];
    if (limit !== undefined) lines[key] = { limit, used: Math.round(used[key] * 10) / 10 };
  }
  const over = Object.entries(lines).filter(([, line]) => line.used > line.limit);
  if (over.length === 0) return lines;
  const sentences = over.map(([key, line]) => `${key}: ${line.used}, the budget is ${line.limit}`);
  throw new SvcError("BUDGET_EXCEEDED", `${name} is too large.\n  ${sentences.join("\n  ")}`, {
    hint: "Find what grew in build.json (sbom, js); raise [budget] in the profile when it is worth it.",
  });
}
