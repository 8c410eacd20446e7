// Whatever mix of features fails, hangs or behaves, and whenever the shutdown comes, the rules of the phases hold.
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { feature, lifecycleOf, neverAborted, tool } from "./fake-features.ts";
import { settled } from "./fake-clock.ts";

const outcome = fc.constantFrom("works", "throws", "rejects", "hangs", "absent");
type Outcome = "works" | "throws" | "rejects" | "hangs" | "absent";

interface Plan {
  readonly create: Outcome;
  readonly register: Outcome;
  readonly run: Outcome;
  readonly shutdown: Outcome;
}
const plans: fc.Arbitrary<Plan[]> = fc.array(
  fc.record({
    create: fc.constantFrom("works", "works", "throws"),
    register: outcome,
    run: outcome,
    shutdown: outcome,
  }),
  { maxLength: 6 },
);
const stopAfter = fc.constantFrom("construct", "half a register", "register", "execute", "restarts");

function step(kind: Outcome, log: () => void): (() => Promise<void>) | undefined {
  if (kind === "absent") return undefined;
  return () => {
    log();
    if (kind === "throws") throw new Error("thrown");
    if (kind === "hangs") return new Promise(() => undefined);
    return kind === "rejects" ? Promise.reject(new Error("rejected")) : Promise.resolve();
  };
}

async function live(all: readonly Plan[], stop: string) {
  const events: [step: string, index: number][] = [];
  const definitions = all.map((plan, index) => {
    const on = (name: "register" | "run" | "shutdown") => {
      const call = step(plan[name], () => events.push([name, index]));
      return call && { [name]: call };
    };
    return feature(`f${index}`, () => {
      events.push(["create", index]);
      if (plan.create === "throws") throw new Error("thrown");
      return { tools: [tool(`t${index}`)], ...on("register"), ...on("run"), ...on("shutdown") };
    });
  });
  const { lifecycle, clock } = lifecycleOf(definitions);
  await lifecycle.construct();
  let tools: string[] | undefined;
  if (stop !== "construct") {
    const registering = lifecycle.register(neverAborted()).then(
      (registry) => (tools = registry.tools.names()),
      () => undefined,
    );
    await settled();
    if (stop !== "half a register") {
      await clock.advance(60_000);
      await registering;
    }
  }
  if (stop === "execute" || stop === "restarts") lifecycle.execute();
  await clock.advance(stop === "restarts" ? 10_000 : 0);
  const atStop = lifecycle.features();
  const down = Promise.all([lifecycle.shutdown(), lifecycle.shutdown()]);
  await clock.advance(600_000);
  await down;
  return { events, tools, atStop, after: lifecycle.features(), pendingTimers: clock.waiting };
}

const of = (events: readonly [string, number][], name: string) =>
  events.filter(([step]) => step === name).map(([, index]) => index);
const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
const descending = (list: readonly number[]) => list.toSorted((a, b) => b - a);
/** Every event of the first kind came before every one of the second. */
const before = (
  events: readonly [string, number][],
  isFirst: (e: [string, number]) => boolean,
  isSecond: typeof isFirst,
) => events.slice(Math.max(0, events.findIndex(isSecond))).every((event) => !isFirst(event)) || !events.some(isSecond);

function brokenRules(all: readonly Plan[], lived: Awaited<ReturnType<typeof live>>): string[] {
  const { events, tools, atStop, after, pendingTimers } = lived;
  const made = all.flatMap((plan, index) => (plan.create === "works" ? [index] : []));
  const sound = made.filter((index) => ["works", "absent"].includes(all[index]?.register ?? ""));
  const ended = of(events, "shutdown");
  const inService = new Set(atStop.flatMap(({ state }, index) => (state === "failed" ? [] : [index])));
  const endedInService = ended.filter((index) => inService.has(index));
  const registers = of(events, "register");
  const rules: Record<string, boolean> = {
    "constructed once, in the order given": same(of(events, "create"), [...all.keys()]),
    "no register before all are constructed": before(
      events,
      ([step]) => step === "create",
      ([step]) => step === "register",
    ),
    "registered once": new Set(registers).size === registers.length,
    "whoever was made is shut down, once": same(
      ended.toSorted((a, b) => a - b),
      made.filter((index) => all[index]?.shutdown !== "absent"),
    ),
    "in reverse order of construction": same(endedInService, descending(endedInService)),
    "a failed feature contributes nothing, the others everything":
      tools === undefined ||
      same(
        tools,
        sound.map((index) => `t${index}`),
      ),
    "only registered features run": of(events, "run").every((index) => tools !== undefined && sound.includes(index)),
    "loops are over before anything in service is shut down": before(
      events,
      ([step]) => step === "run",
      ([step, index]) => step === "shutdown" && inService.has(index),
    ),
    "at the end nobody runs": after.every(({ state }) => state === "failed" || state === "stopped"),
    "at the end no timer is left": pendingTimers === 0,
  };
  return Object.keys(rules).filter((rule) => rules[rule] !== true);
}

test("for every mix of features and every moment of shutdown, the rules of the phases hold", async () => {
  await fc.assert(
    fc.asyncProperty(plans, stopAfter, async (all, stop) => {
      expect(brokenRules(all, await live(all, stop))).toEqual([]);
    }),
    { numRuns: cases(300) },
  );
});
