/** The keys of SOP.toml. What depends on more than one of them is in `rules.ts`. */
import { TOOL_NAME, integer } from "@svc/contract";
import * as v from "valibot";

export const MOST_STEPS = 200;
const MOST_TRIGGERS = 100;
/** A century; more is a slip of the hand. */
const LONGEST_COOLDOWN_SECS = 3_153_600_000;

const EXECUTION_MODES = ["auto", "supervised", "step_by_step", "priority_based", "deterministic"] as const;
export const TRIGGER_TYPES = ["webhook", "cron", "channel_event", "mqtt", "peripheral", "manual"] as const;
export const STEP_KINDS = ["execute", "checkpoint"] as const;

export const LONGEST_TITLE = 200;

/** Titles and names are shown in chats and at terminals. */
export const isOneLine = (text: string): boolean => !/[\p{Cc}\u2028\u2029]/u.test(text) && text.trim() !== "";

/** A child agent, by what it runs on. */
export const CHILD_AGENT = /^[a-z][a-z0-9-]{0,31}$/;

const line = (most: number) =>
  v.pipe(v.string(), v.minLength(1), v.maxLength(most), v.check(isOneLine, "one line of text"));

const toolName = v.pipe(
  v.string(),
  v.check((name) => TOOL_NAME.test(name), "a tool's name: a-z, then a-z 0-9 _, at most 64"),
);

const trigger = v.strictObject({
  type: v.picklist(TRIGGER_TYPES),
  path: v.optional(line(2048)),
  expression: v.optional(line(256)),
  timezone: v.optional(line(64)),
  event: v.optional(line(128)),
  topic: v.optional(line(2048)),
  board: v.optional(line(64)),
  signal: v.optional(line(128)),
  condition: v.optional(v.pipe(v.string(), v.maxLength(4096))),
});

const step = v.strictObject({
  title: line(LONGEST_TITLE),
  body: v.optional(v.string(), ""),
  kind: v.optional(v.picklist(STEP_KINDS), "execute"),
  requires_confirmation: v.optional(v.boolean(), false),
  tools: v.optional(v.array(toolName), []),
  tool: v.optional(toolName),
  args: v.optional(v.record(v.string(), v.unknown())),
  trusted_input: v.optional(v.boolean()),
  agent: v.optional(v.pipe(v.string(), v.regex(CHILD_AGENT, "svc, or a name of agents_pool.programs"))),
});

export const sopSchema = v.strictObject({
  sop: v.strictObject({
    name: v.optional(v.string()),
    description: v.optional(v.pipe(v.string(), v.maxLength(2000)), ""),
    version: v.optional(v.pipe(v.string(), v.maxLength(64)), ""),
    priority: v.optional(v.picklist(["low", "normal", "high", "critical"]), "normal"),
    execution_mode: v.optional(v.picklist(EXECUTION_MODES)),
    cooldown_secs: v.optional(integer(0, LONGEST_COOLDOWN_SECS), 0),
    max_concurrent: v.optional(integer(1, 1_000_000), 1),
    agent: v.optional(line(64)),
    enabled: v.optional(v.boolean(), true),
  }),
  triggers: v.optional(v.pipe(v.array(trigger), v.maxLength(MOST_TRIGGERS)), []),
  steps: v.optional(v.pipe(v.array(step), v.maxLength(MOST_STEPS)), []),
});

export type SopFile = v.InferOutput<typeof sopSchema>;
export type StepEntry = SopFile["steps"][number];
export type TriggerEntry = SopFile["triggers"][number];
