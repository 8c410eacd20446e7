/** A procedure out of its two files: the definition, or everything that is wrong with it. */
import { basename, join } from "node:path";
import {
  type Finding,
  type Path,
  type Problem,
  type Table,
  type ToolPair,
  badKey,
  badValue,
  checkDocument,
} from "@svc/config";
import { type ExecutionMode, SOP_MD, SOP_TOML, type SopDefinition, type SopStep, type SopTrigger } from "./types.ts";
import { type ReadSteps, type Remark, readSteps } from "./steps-md.ts";
import { type ReservedPaths, sopRules, unpairedTools } from "./rules.ts";
import { MOST_STEPS, type SopFile, type StepEntry, type TriggerEntry, sopSchema } from "./schema.ts";
import { cronTimes } from "../triggers/cron-time.ts";
import { referencesIn } from "./args.ts";

export interface SopFiles {
  /** Absolute path of its folder, whose name is the procedure's. */
  readonly folder: string;
  readonly toml: string;
  /** Undefined: there is none. */
  readonly markdown: string | undefined;
}

export interface DefinitionRules {
  /** Of a file that names none. */
  readonly defaultMode: ExecutionMode;
  readonly reserved: ReservedPaths;
  /** A step with the tool `beside` needs `tool` too: nothing may drive that can't stop. */
  readonly toolPairs?: readonly ToolPair[];
}

export interface CheckedSop {
  readonly name: string;
  /** Undefined where there are problems. */
  readonly definition: SopDefinition | undefined;
  /** SOP.toml first, each file in its order. */
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** There is no SOP.toml: somebody took it away, so no version of before stays in force. */
  readonly isMissing?: true;
}

/** `known`: for warnings, which only somebody who asks for them is told. */
export const checkSop = async (files: SopFiles, rules: DefinitionRules, known?: Known): Promise<CheckedSop> =>
  (await examineSop(files, rules, known)).checked;

export interface ExaminedSop {
  readonly checked: CheckedSop;
  /** SOP.toml as it was written, right or wrong; undefined: it is not TOML. */
  readonly table: Table | undefined;
  readonly written: ReadSteps;
}

/** The same, with what the files say. */
export async function examineSop(files: SopFiles, rules: DefinitionRules, known?: Known): Promise<ExaminedSop> {
  const { folder, toml, markdown } = files;
  const name = basename(folder);
  const written = await readSteps(markdown ?? "");
  const remarks = (list: readonly Remark[]): Problem[] =>
    list.slice(0, MOST_REMARKS).map((remark) => placed(remark, join(folder, SOP_MD)));
  const stepsInMarkdown = written.steps.length > 0;
  const document = await checkDocument(
    { file: join(folder, SOP_TOML), text: toml, code: "SOP_INVALID" },
    sopSchema,
    (table) => sopRules(table, { name, stepsInMarkdown, ...rules }),
  );
  const unpaired = written.steps.flatMap(({ tools }, index) =>
    unpairedTools(tools, rules.toolPairs).map((message) => ({
      line: written.stepLines[index] ?? 1,
      column: 1,
      message,
    })),
  );
  const problems = [...document.problems, ...remarks([...written.problems, ...unpaired])];
  if (document.table && !stepsInMarkdown && !hasSteps(document.table)) problems.push(noSteps(files, written));
  if (written.steps.length > MOST_STEPS) problems.push(placed(TOO_MANY, join(folder, SOP_MD)));
  const definition =
    document.value && problems.length === 0
      ? definitionOf(name, document.value, written, rules.defaultMode)
      : undefined;
  const examined = (warnings: readonly Problem[]): ExaminedSop => ({
    checked: { name, definition, problems, warnings },
    table: document.table,
    written,
  });
  if (!definition || !known) return examined(remarks(written.warnings));
  const noted = stepsInMarkdown ? absentTools(definition, written, known) : [];
  const findings = [...warningsOf(definition, known), ...(stepsInMarkdown ? [] : absentCalls(definition, known))];
  const warnings = [...(await document.place(findings)), ...remarks([...written.warnings, ...noted])];
  return examined(warnings);
}

const ABSENT = "names a tool that this build does not have";

const absentTools = ({ steps }: SopDefinition, { stepLines }: ReadSteps, known: Known): Remark[] =>
  steps.flatMap((step, index) =>
    unknownTools(step, known).map(() => ({ line: stepLines[index] ?? 1, column: 1, message: `this step ${ABSENT}` })),
  );

const absentCalls = ({ steps }: SopDefinition, known: Known): Finding[] =>
  steps.flatMap((step, index) => unknownTools(step, known).map(() => badKey(["steps", index], ABSENT)));

/** Of SOP.md, as of SOP.toml. */
const MOST_REMARKS = 100;

const TOO_MANY: Remark = { line: 1, column: 1, message: `there are more than ${MOST_STEPS} steps` };

function placed({ line, column, message, allowed, didYouMean }: Remark, file: string): Problem {
  const more = { ...(allowed !== undefined && { allowed }), ...(didYouMean !== undefined && { didYouMean }) };
  return { code: "SOP_INVALID", file, line, column, key: "", message, ...more };
}

/** Also such as are wrong: that is told then. */
const hasSteps = ({ steps }: Table): boolean => steps !== undefined && !(Array.isArray(steps) && steps.length === 0);

function noSteps({ folder, markdown }: SopFiles, { hasSection }: ReadSteps): Problem {
  const message = hasSection
    ? "there is no step under ## Steps; one is like: 1. **Title** — what is to be done"
    : "there are no steps: neither under ## Steps in SOP.md, nor as [[steps]] in SOP.toml";
  return { code: "SOP_INVALID", file: join(folder, markdown === undefined ? SOP_TOML : SOP_MD), key: "", message };
}

/** What is allowed and probably not meant. Told by `svc sop validate`. */
export interface Known {
  readonly nowMs: number;
  /** Names of the config's agents; undefined: not known. */
  readonly agents?: readonly string[];
  /** Tools of this build. */
  readonly tools?: readonly string[];
}

function warningsOf(definition: SopDefinition, known: Known): Finding[] {
  const { agent, triggers, steps, mode } = definition;
  return [
    ...(triggers.length === 0 ? [badKey(["triggers"], "nothing starts it: there is no [[triggers]]")] : []),
    ...(agent === undefined ? [] : unknownName(["sop", "agent"], agent, known.agents, "agent of the config")),
    ...triggers.flatMap((trigger, index) => triggerWarnings(trigger, ["triggers", index], known.nowMs)),
    ...steps.flatMap((step, index) => callWarnings(step, ["steps", index], mode === "deterministic")),
  ];
}

function triggerWarnings(trigger: SopTrigger, at: Path, nowMs: number): Finding[] {
  if (trigger.type !== "cron") return [];
  const times = cronTimes(trigger.expression, trigger.timezone);
  const never = "fault" in times || times.nextAfter(nowMs) === undefined;
  const condition = (trigger.condition ?? "").trim() !== "";
  return [
    ...(never ? [badValue([...at, "expression"], "is never due")] : []),
    ...(condition ? [badKey([...at, "condition"], "is never met: a cron trigger has no payload")] : []),
  ];
}

function callWarnings({ call }: SopStep, at: Path, deterministic: boolean): Finding[] {
  if (!call) return [];
  const inCommand = referencesIn(call.args).filter((place) => place.at(-1) === "command");
  return [
    ...(deterministic
      ? []
      : [badKey([...at, "tool"], "counts only in deterministic mode; here a model does the step")]),
    ...inCommand.map((place) =>
      badValue([...at, "args", ...place], "no part of the input enters a command; the step will fail"),
    ),
  ];
}

/** Tools that a step names and this build has not; the same for steps of either file. */
const unknownTools = ({ tools }: SopStep, known: Known): readonly string[] =>
  known.tools ? tools.filter((tool) => !known.tools!.includes(tool)) : [];

function unknownName(path: Path, name: string, names: readonly string[] | undefined, what: string): Finding[] {
  if (!names || names.includes(name)) return [];
  return [badValue(path, `names no ${what}`, { guess: { wrong: name, among: names } })];
}

/** The definition out of what the files say, checked before. */
function definitionOf(
  name: string,
  { sop, triggers, steps }: SopFile,
  written: Pick<ReadSteps, "steps" | "instructions">,
  defaultMode: ExecutionMode,
): SopDefinition {
  return {
    name,
    description: sop.description,
    version: sop.version,
    priority: sop.priority,
    mode: sop.execution_mode ?? defaultMode,
    cooldownMs: sop.cooldown_secs * 1000,
    maxConcurrent: sop.max_concurrent,
    agent: sop.agent,
    triggers: triggers.map(triggerOf),
    steps: steps.length > 0 ? steps.map(stepOf) : written.steps,
    instructions: written.instructions,
    ...(!sop.enabled && { isDisabled: true as const }),
  };
}

/** The rules have seen to it that each has what its type needs. */
function triggerOf(entry: TriggerEntry): SopTrigger {
  const {
    type,
    path = "",
    expression = "",
    timezone,
    event = "",
    topic = "",
    board = "",
    signal = "",
    condition,
  } = entry;
  switch (type) {
    case "webhook":
      return { type, path, condition };
    case "cron":
      return { type, expression, timezone, condition };
    case "channel_event":
      return { type, event, condition };
    case "mqtt":
      return { type, topic, condition };
    case "peripheral":
      return { type, board, signal, condition };
    case "manual":
      return { type, condition };
  }
}

function stepOf(step: StepEntry, index: number): SopStep {
  const { tool, args = {}, trusted_input: trustedInput = false, agent } = step;
  return {
    number: index + 1,
    title: step.title.trim(),
    body: step.body.trim(),
    kind: step.kind,
    requiresConfirmation: step.requires_confirmation,
    // A step that names a tool may use it, also where a model does the step.
    tools: [...new Set([...step.tools, ...(tool === undefined ? [] : [tool])])],
    ...(agent !== undefined && { agent }),
    ...(tool !== undefined && { call: { tool, args, trustedInput } }),
  };
}
