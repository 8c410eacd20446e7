// The conformance cases of procedures: what other programs of this kind decide, and an operator relies on.
import { vectorCases } from "@svc/testkit/vectors";
import { describe, expect, test } from "vitest";
import { gateOf } from "../src/runs/definition.ts";
import { readSteps } from "../src/library/steps-md.ts";
import type { ExecutionMode, Priority, SopTrigger, SopTriggerEvent } from "../src/library/types.ts";
import { cronTimes } from "../src/triggers/cron-time.ts";
import { conditionHolds, triggerFits } from "../src/triggers/match.ts";
import { topicMatches } from "../src/triggers/topic-filter.ts";

describe("sop.condition", () => {
  test.each(vectorCases<{ condition: string; payload: string | null }, boolean>("sop.condition"))(
    "$name",
    ({ input: { condition, payload }, expected }) => {
      expect(conditionHolds(condition, payload)).toBe(expected);
    },
  );
});

describe("sop.trigger", () => {
  type Case = { trigger: SopTrigger; event: SopTriggerEvent };
  test.each(vectorCases<Case, boolean>("sop.trigger"))("$name", ({ input: { trigger, event }, expected }) => {
    expect(triggerFits(trigger, "a-procedure", event)).toBe(expected);
  });
});

describe("sop.mqtt_topic", () => {
  test.each(vectorCases<{ pattern: string; topic: string }, boolean>("sop.mqtt_topic"))(
    "$name",
    ({ input: { pattern, topic }, expected }) => {
      expect(topicMatches(pattern, topic)).toBe(expected);
    },
  );
});

describe("sop.mode", () => {
  type Case = { mode: ExecutionMode; priority: Priority; requires_confirmation: boolean };
  test.each(vectorCases<Case, { step1: string; step2: string }>("sop.mode"))("$name", ({ input, expected }) => {
    const gate = (number: number): string =>
      gateOf(input.mode, input.priority, {
        number,
        kind: "execute",
        requiresConfirmation: input.requires_confirmation,
      });
    expect({ step1: gate(1), step2: gate(2) }).toEqual(expected);
  });
});

describe("sop.steps_md", () => {
  type Step = { number: number; title: string; tools?: string[]; requires_confirmation?: boolean; kind?: string };
  test.each(vectorCases<string, Step[]>("sop.steps_md"))("$name", async ({ input, expected }) => {
    const { steps, problems } = await readSteps(input);
    const told = steps.map(({ requiresConfirmation, ...step }) => ({
      ...step,
      requires_confirmation: requiresConfirmation,
    }));
    expect(problems).toEqual([]);
    expect(told).toMatchObject(expected);
    expect(told).toHaveLength(expected.length);
  });
});

describe("cron.next", () => {
  type Case = { expr: string; tz: string | null; from: string };
  test.each(vectorCases<Case, { next: string }>("cron.next"))("$name", ({ input: { expr, tz, from }, expected }) => {
    const times = cronTimes(expr, tz ?? undefined);
    if ("fault" in times) throw new Error(times.fault);
    expect(times.nextAfter(Date.parse(from))).toBe(Date.parse(expected.next));
  });
});
