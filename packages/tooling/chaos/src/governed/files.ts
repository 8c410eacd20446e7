/** The procedures of the harness, and what one run of each does outside. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * `work`: an agent, unasked. `gated`: an agent, asked before each step. `plain`: tools without a model, asked before the
 * last. `ask`: no procedure, but the question of a program outside.
 */
export const KINDS = ["work", "gated", "plain", "ask"] as const;
export type Kind = (typeof KINDS)[number];

export const STEPS = 2;

export const pathOf = (kind: Kind): string => `/of/${kind}`;

/** Where the steps of a run leave what they did, each one line. */
export const ACTS = "acts.txt";
/** Of the last step of `plain`, whose arguments nobody outside has a say in. */
export const PLAIN_ACTS = "plain.txt";

const head = (kind: Kind, mode: string): string => `[sop]
execution_mode = "${mode}"
max_concurrent = 1000000

[[triggers]]
type = "webhook"
path = "${pathOf(kind)}"
`;

const AGENT_STEPS = `# Of the harness

## Steps

1. **First** — Do it.
   - tools: file_write
2. **Second** — Do it again.
   - tools: file_write
`;

const PLAIN_STEPS = `
[[steps]]
title = "First"
tool = "file_write"
args = { path = "${ACTS}", content = "$.first", mode = "append" }
trusted_input = true

[[steps]]
title = "Second"
tool = "file_write"
args = { path = "${PLAIN_ACTS}", content = "again\\n", mode = "append" }
requires_confirmation = true
`;

export function writeProcedures(home: string): void {
  write(home, "work", head("work", "auto"), AGENT_STEPS);
  write(home, "gated", head("gated", "step_by_step"), AGENT_STEPS);
  write(home, "plain", head("plain", "deterministic") + PLAIN_STEPS);
}

function write(home: string, name: string, toml: string, md?: string): void {
  const folder = join(home, "workspace", "sops", name);
  mkdirSync(folder, { recursive: true });
  if (md !== undefined) writeFileSync(join(folder, "SOP.md"), md);
  writeFileSync(join(folder, "SOP.toml"), toml);
}
