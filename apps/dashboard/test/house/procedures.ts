/** Procedures in the workspace: by hand, by the clock, by a request, and one whose file is wrong. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface ProcedureFiles {
  readonly toml: string;
  readonly md?: string;
}

export function writeProcedure(home: string, name: string, { toml, md = STEPS }: ProcedureFiles): void {
  const folder = join(home, "workspace", "sops", name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "SOP.md"), md);
  writeFileSync(join(folder, "SOP.toml"), toml);
}

export const removeProcedure = (home: string, name: string): void =>
  rmSync(join(home, "workspace", "sops", name), { recursive: true, force: true });

const STEPS = `# Site release

The site is built from its main branch.

## Steps

1. **Read the notes** — Say in one sentence what the release brings.
   - tools: file_read

2. **Is it the right moment?** — Nobody releases on a Friday evening.
   - kind: checkpoint

3. **Tell the team** — Write two sentences for the team.
`;

export function seedProcedures(home: string): void {
  writeProcedure(home, "site-release", {
    toml: `[sop]
description = "Builds the site, asks, and tells the team"
version = "1.2"
execution_mode = "auto"

[[triggers]]
type = "manual"
`,
  });
  writeProcedure(home, "nightly-report", {
    toml: `[sop]
description = "Sums up the day for the morning"
version = "1.0"
priority = "low"
execution_mode = "auto"

[[triggers]]
type = "cron"
expression = "30 5 * * *"
timezone = "Europe/Berlin"
`,
  });
  writeProcedure(home, "disk-alert", {
    toml: `[sop]
description = "Looks after a disk that fills up"
version = "0.3"
priority = "high"
execution_mode = "step_by_step"

[[triggers]]
type = "webhook"
path = "/sop/disk"
condition = "$.used_percent >= 90"
`,
  });
  writeProcedure(home, "old-draft", { toml: "[sop]\ndescription = \n" });
}
