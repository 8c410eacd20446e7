/** The section `[agents_pool]`. */
import { integer } from "@svc/contract";
import * as v from "valibot";

const whole = (min: number, max: number, text: string) => v.pipe(integer(min, max), v.description(text));

const program = v.strictObject({
  command: v.pipe(
    v.array(v.pipe(v.string(), v.minLength(1))),
    v.minLength(1),
    v.maxLength(64),
    v.description('Program and arguments. It must speak the Agent Client Protocol, e.g. ["claude-code-acp"].'),
  ),
});

/** `svc` is the name of svc's own agent. */
const programName = v.pipe(
  v.string(),
  v.regex(/^(?!svc$)[a-z][a-z0-9-]{0,31}$/, "a-z, then a-z 0-9 -, at most 32, and not svc"),
);

export const poolConfig = v.strictObject({
  enabled: v.optional(v.pipe(v.boolean(), v.description("Let agents start child agents.")), true),
  max_agents: v.optional(whole(1, 200, "Child agents with a process at the same time."), 8),
  max_depth: v.optional(whole(1, 8, "Nesting depth of child agents; 1: a child can't start children."), 2),
  max_processes: v.optional(whole(1, 4096, "Processes of one child agent; beyond that it is killed (Linux)."), 64),
  max_run_secs: v.optional(whole(1, 86_400, "Longest time for one prompt, in seconds."), 1800),
  zombie_after_secs: v.optional(
    whole(5, 3600, "A child agent that runs without an event for this many seconds is killed."),
    120,
  ),
  max_cost_usd: v.optional(
    v.pipe(
      v.number(),
      v.minValue(0.0001),
      v.description("What one child agent may cost in US dollars, with those that it makes. Default: no limit."),
    ),
  ),
  max_tokens: v.optional(
    whole(1, 1e12, "Tokens that one child agent may use, with those that it makes. Default: no limit."),
  ),
  max_actions: v.optional(
    whole(1, 1e9, "Calls of tools that one child agent may make, with those that it makes. Default: no limit."),
  ),
  programs: v.optional(
    v.pipe(
      v.record(programName, program),
      v.description("Programs that speak the Agent Client Protocol, by name. They run in the agent's sandbox."),
    ),
    {},
  ),
});
export type PoolConfig = v.InferOutput<typeof poolConfig>;
