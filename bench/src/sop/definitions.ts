/** As many procedures as are wanted, each with a trigger of its own; the first is the one that is measured. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const PATH = "/of/bench";
const CONDITION = "$.alert.seconds >= 3";
export const BODY = '{"alert":{"seconds":3.5,"host":"web-1"},"note":"hello from the bench"}';

/** Lets every trigger in. */
export const CONFIG = `[gateway]
webhook_rate_limit_per_minute = 0

[sop]
max_concurrent_total = 1000000
`;

/** A run is one call of a tool that looks, without a model. */
const one = (path: string): string => `[sop]
description = "One of many"
execution_mode = "deterministic"
max_concurrent = 1000000

[[triggers]]
type = "webhook"
path = "${path}"
condition = "${CONDITION}"

[[steps]]
title = "Look"
tool = "file_list"
args = { path = "." }
`;

/** `workspace`: what agents work in. */
export function writeDefinitions(workspace: string, count: number): void {
  for (let index = 0; index < count; index += 1) {
    const folder = join(workspace, "sops", `bench-${index}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "SOP.toml"), one(index === 0 ? PATH : `${PATH}/${index}`));
  }
}
