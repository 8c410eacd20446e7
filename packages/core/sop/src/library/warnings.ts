/** What is allowed and probably not meant. Told by `svc sop validate`. */
import { badKey, badValue, type Finding, type Path } from "@svc/kernel";
import { cronTimes } from "../triggers/cron-time.ts";
import { referencesIn } from "./args.ts";
import type { SopDefinition, SopStep, SopTrigger } from "./types.ts";

export interface Known {
  readonly nowMs: number;
  /** Names of the config's agents; undefined: not known. */
  readonly agents?: readonly string[];
  /** Tools of this build. */
  readonly tools?: readonly string[];
}

export function warningsOf(definition: SopDefinition, known: Known): Finding[] {
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
export const unknownTools = ({ tools }: SopStep, known: Known): readonly string[] =>
  known.tools ? tools.filter((tool) => !known.tools!.includes(tool)) : [];

function unknownName(path: Path, name: string, names: readonly string[] | undefined, what: string): Finding[] {
  if (!names || names.includes(name)) return [];
  return [badValue(path, `names no ${what}`, { guess: { wrong: name, among: names } })];
}
