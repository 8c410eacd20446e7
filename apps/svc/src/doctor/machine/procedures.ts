/** The procedures of the workspace: whether their files, as they are now, could be loaded. */
import { formatProblems } from "@svc/kernel";
import type { CheckedSop } from "@svc/sop";
import { type Finding, ok, warning } from "../finding.ts";
import type { Check } from "./check.ts";

export const procedures: Check = {
  id: "procedures",
  async find(machine) {
    const checked = await machine.procedures();
    const broken = checked.filter(({ problems }) => problems.length > 0);
    if (broken.length > 0) return broken.map(findingOf);
    return checked.length === 0 ? [] : [ok("procedures", `${checked.length} procedures have no problems.`)];
  },
};

/** The first of them; `svc sop validate` tells all. */
function findingOf({ name, problems: [first, ...others] }: CheckedSop): Finding {
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  return warning("procedures", `${formatProblems([first!])}${more}`, `correct it, then: svc sop validate ${name}`);
}
