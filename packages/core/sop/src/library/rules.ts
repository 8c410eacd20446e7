/** What SOP.toml must fulfil beyond its schema. The table need not fit the schema: each rule looks for itself. */
import { type Finding, type Path, type Table, type ToolPair, badKey, badValue, isTable } from "@svc/config";
import { readCondition } from "../triggers/condition.ts";
import { cronTimes, isTimeZone } from "../triggers/cron-time.ts";
import { topicFilterFault } from "../triggers/topic-filter.ts";
import { TRIGGER_TYPES, type TriggerEntry } from "./schema.ts";
import { isCanonicalPath } from "@svc/kit";

export interface RuleContext {
  /** Of the folder. */
  readonly name: string;
  readonly reserved: ReservedPaths;
  /** In force when the file says nothing. */
  readonly defaultMode: string;
  /** SOP.md has steps. */
  readonly stepsInMarkdown: boolean;
  readonly toolPairs?: readonly ToolPair[];
}

/** What is wrong with a step that has these tools. */
export const unpairedTools = (tools: readonly unknown[], pairs: readonly ToolPair[] = []): string[] =>
  pairs
    .filter(({ tool, beside }) => tools.includes(beside) && !tools.includes(tool))
    .map(({ tool, beside }) => `a step that has ${beside} needs ${tool} too`);

export function sopRules(table: Table, context: RuleContext): Finding[] {
  return [
    ...nameRules(table["sop"], context),
    ...itemsOf(table["triggers"]).flatMap((trigger, index) => triggerRules(trigger, index, context.reserved)),
    ...stepRules(table, context),
  ];
}

function nameRules(sop: unknown, { name }: RuleContext): Finding[] {
  const given = isTable(sop) ? sop["name"] : undefined;
  if (typeof given !== "string" || given === name) return [];
  return [badValue(["sop", "name"], "must be the folder's name, or left out")];
}

type TriggerType = (typeof TRIGGER_TYPES)[number];
type TriggerKey = Exclude<keyof TriggerEntry, "type" | "condition">;

const ALL_KEYS = ["path", "expression", "timezone", "event", "topic", "board", "signal"] as const;

const KEYS: Readonly<Record<TriggerType, { readonly needs: readonly TriggerKey[]; readonly takes?: TriggerKey }>> = {
  webhook: { needs: ["path"] },
  cron: { needs: ["expression"], takes: "timezone" },
  channel_event: { needs: ["event"] },
  mqtt: { needs: ["topic"] },
  peripheral: { needs: ["board", "signal"] },
  manual: { needs: [] },
};

function triggerRules(trigger: Table, index: number, reserved: ReservedPaths): Finding[] {
  const at = (key: string): Path => ["triggers", index, key];
  const { type } = trigger;
  const kind = TRIGGER_TYPES.find((one) => one === type);
  if (!kind) return [];
  const { needs, takes } = KEYS[kind];
  const others = ALL_KEYS.filter((key) => !needs.includes(key) && key !== takes);
  return [
    ...needs
      .filter((key) => trigger[key] === undefined)
      .map((key) => badKey(at(key), `is required for ${withArticle(kind)} trigger`)),
    ...others
      .filter((key) => trigger[key] !== undefined)
      .map((key) => badKey(at(key), `${withArticle(kind)} trigger takes none`)),
    ...(kind === "webhook" ? fault(at("path"), trigger["path"], (path) => pathFault(path, reserved)) : []),
    ...(kind === "cron" ? cronRules(trigger, at) : []),
    ...(kind === "mqtt" ? fault(at("topic"), trigger["topic"], topicFilterFault) : []),
    ...(kind === "peripheral" ? ["board", "signal"].flatMap((key) => fault(at(key), trigger[key], nameFault)) : []),
    ...fault(at("condition"), trigger["condition"], conditionFault),
  ];
}

const withArticle = (kind: TriggerType): string => (kind === "mqtt" ? `an ${kind}` : `a ${kind}`);

/** An event's topic is `board/signal`. */
const nameFault = (name: string): string | undefined =>
  /^[A-Za-z0-9_.-]+$/.test(name) ? undefined : "must be a name of letters, digits, _ . and -";

function cronRules({ expression, timezone }: Table, at: (key: string) => Path): Finding[] {
  return [
    ...fault(at("expression"), expression, (text) => {
      const times = cronTimes(text, undefined);
      return "fault" in times ? `is no cron expression: ${times.fault}` : undefined;
    }),
    ...fault(at("timezone"), timezone, (name) =>
      isTimeZone(name) ? undefined : "is no time zone; one is like Europe/Berlin or UTC",
    ),
  ];
}

function conditionFault(text: string): string | undefined {
  const read = readCondition(text);
  return "fault" in read ? `is no condition: ${read.fault}` : undefined;
}

/** What `judge` says of a text. What is no text, or blank, is the schema's. */
function fault(path: Path, value: unknown, judge: (text: string) => string | undefined): Finding[] {
  const problem = typeof value === "string" && value.trim() !== "" ? judge(value) : undefined;
  return problem === undefined ? [] : [badValue(path, problem)];
}

function stepRules(table: Table, context: RuleContext): Finding[] {
  const steps = itemsOf(table["steps"]);
  if (context.stepsInMarkdown && steps.length > 0) {
    return [badKey(["steps"], "the steps stand in SOP.md too; only one of the two may have them")];
  }
  const sop = isTable(table["sop"]) ? table["sop"] : {};
  const mode = sop["execution_mode"] ?? context.defaultMode;
  return [
    ...steps.flatMap((step, index) => callRules(step, index, mode === "deterministic")),
    ...(mode === "deterministic" ? [] : steps.flatMap((step, index) => pairRules(step, index, context))),
    ...(context.stepsInMarkdown && mode === "deterministic" ? [badKey(["sop", "execution_mode"], NEEDS_TOML)] : []),
  ];
}

const NEEDS_TOML = "deterministic runs need steps with a tool, written as [[steps]] here and not in SOP.md";

function callRules(step: Table, index: number, deterministic: boolean): Finding[] {
  const at = (key: string): Path => ["steps", index, key];
  const { kind, tool, args } = step;
  if (kind === "checkpoint") {
    const extra = ["tool", "args", "trusted_input", "agent"].filter((key) => step[key] !== undefined);
    return extra.map((key) => badKey(at(key), "a checkpoint only waits for a person, it calls no tool"));
  }
  return [
    ...(deterministic && step["agent"] !== undefined
      ? [badKey(at("agent"), "a child agent has a model, and deterministic runs have none")]
      : []),
    ...(deterministic && tool === undefined ? [badKey(at("tool"), "is required in deterministic mode")] : []),
    ...["args", "trusted_input"]
      .filter((key) => tool === undefined && !deterministic && step[key] !== undefined)
      .map((key) => badKey(at(key), "belongs to a tool, and the step names none")),
    ...notJson(args, at("args")),
  ];
}

/** In deterministic mode no model drives: each step is one call, which the feature bounds. */
function pairRules({ tools, tool }: Table, index: number, { toolPairs }: RuleContext): Finding[] {
  const named = [...(Array.isArray(tools) ? (tools as unknown[]) : []), tool];
  const at = tools === undefined ? "tool" : "tools";
  return unpairedTools(named, toolPairs).map((message) => badValue(["steps", index, at], message));
}

/** TOML has dates and numbers that a tool's input can't have. */
function notJson(value: unknown, path: Path): Finding[] {
  if (value instanceof Date) return [badValue(path, "a date belongs in quotes")];
  if (typeof value === "bigint" || (typeof value === "number" && !Number.isFinite(value))) {
    return [badValue(path, "must be a number that JSON has, or text")];
  }
  if (Array.isArray(value)) return value.flatMap((item, index) => notJson(item, [...path, index]));
  return isTable(value) ? Object.entries(value).flatMap(([key, inner]) => notJson(inner, [...path, key])) : [];
}

/** The tables of a list of tables. */
const itemsOf = (value: unknown): Table[] =>
  Array.isArray(value) ? value.map((item) => (isTable(item) ? item : {})) : [];

// Which paths a webhook trigger may have.

/** Paths that the service answers itself and that are no events; one that ends with `/` stands for all below, `/` alone for the page. */
export type ReservedPaths = readonly string[];

/** What is wrong with a path; undefined: nothing. */
export function pathFault(path: string, reserved: ReservedPaths): string | undefined {
  if (!path.startsWith("/")) return 'must begin with "/"';
  if (/[?#]/.test(path)) return "must be a path alone, without a query; the condition looks at the payload";
  if (!isAsSent(path)) {
    return "must be written as it stands in a URL: without . and .. parts, other characters as %20, letters and digits as they are";
  }
  if (isReserved(path, reserved)) return "is a path of the service itself";
  return undefined;
}

/** A request's path is compared as it came, and one with a second spelling is 404: such a trigger would wait for ever. */
function isAsSent(path: string): boolean {
  const url = `http://host${path}`;
  return isCanonicalPath(path) && URL.canParse(url) && new URL(url).pathname === path;
}

function isReserved(path: string, reserved: ReservedPaths): boolean {
  return [...ALWAYS, ...reserved].some(
    (one) => path === one || (one !== "/" && one.endsWith("/") && path.startsWith(one)),
  );
}

const ALWAYS = ["/api", "/api/"];
