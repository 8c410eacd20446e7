/** The end of every scenario: the daemon is ended, everything is judged, and what is wrong can be looked at. */
import { join } from "node:path";
import type { Fixture } from "../fixture/fixture.ts";
import type { Poster } from "../fixture/poster.ts";
import { judge } from "../judge/judge.ts";
import { keepEvidence } from "./evidence.ts";
import type { Facts, Report, ScenarioOptions } from "./scenario.ts";

export interface Conclusion {
  readonly scenario: string;
  /** What was found on the way. */
  readonly problems: readonly string[];
  readonly facts?: Facts;
  /** Nothing could be written for a while. */
  readonly wasUnwritable?: boolean;
}

export async function conclude(
  fixture: Fixture,
  { postings }: Poster,
  { seed, evidence }: ScenarioOptions,
  { scenario, problems, facts = {}, wasUnwritable = false }: Conclusion,
): Promise<Report> {
  const judged = await judge(fixture, postings, { wasUnwritable });
  const report = {
    scenario,
    seed,
    problems: [...problems, ...judged.problems],
    facts: { ...judged.facts, ...facts },
  };
  // The same seed is not the same run: what a kill hit depends on the machine.
  if (report.problems.length > 0 && evidence !== undefined) keepEvidence(fixture, join(evidence, scenario));
  return report;
}
