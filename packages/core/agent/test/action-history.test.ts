// max_actions_per_hour: a reload or a restart that makes the hour new again would lift the limit, of the agent and of a client.
import { type ClientId, defineTool } from "@svc/contract";
import { fakeClock } from "@svc/testkit/fake-clock";
import * as fc from "fast-check";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { ActionHistories, type ActionJournal } from "../src/policy/action-history.ts";
import { createPolicy } from "../src/policy/index.ts";
import { ask, call, agentFixture, client, scripted, text } from "./agent-fixture.ts";

const HOUR_MS = 3_600_000;
const tool = defineTool({ name: "act", description: "", input: v.any(), approval: "ask", run: async () => null });

function policyOf(histories: ActionHistories, max: number, agent = "default", more: object = {}) {
  const policy = {
    autonomy: "full" as const,
    allowed_commands: [],
    workspace_only: true,
    forbidden_paths: [],
    max_actions_per_hour: max,
    per_client: true,
    always: [],
    ...more,
  };
  const sandbox = { effective: "none", chosenNone: true };
  return createPolicy({ agent, policy, disabledTools: [], sandbox, workspace: "/", actions: histories.of(agent) });
}

const verdicts = (policy: ReturnType<typeof policyOf>, count: number): string[] =>
  Array.from({ length: count }, () => policy.judge(tool, {}, client).verdict);

describe("the hour goes on", () => {
  test("over a reload, whatever limit was in force before, for this agent alone", () => {
    const histories = new ActionHistories({ actionsSince: () => [] }, fakeClock());
    expect(verdicts(policyOf(histories, 0), 3)).toEqual(["allow", "allow", "allow"]);
    expect(verdicts(policyOf(histories, 4), 2)).toEqual(["allow", "refuse"]);
    expect(verdicts(policyOf(histories, 3), 1)).toEqual(["refuse"]);
    expect(verdicts(policyOf(histories, 5), 2)).toEqual(["allow", "refuse"]);
    expect(verdicts(policyOf(histories, 1, "clerk"), 2)).toEqual(["allow", "refuse"]);
  });

  test("over a restart: what the journal tells counts, each call as long as it has left", async () => {
    const clock = fakeClock();
    const { agent, store } = agentFixture({ clock, model: scripted([call("act")], [text("ok")]) });
    await ask(agent, "go");
    await clock.advance(HOUR_MS / 2);
    const policy = policyOf(new ActionHistories(store.toolCalls, clock), 2);
    expect(verdicts(policy, 2)).toEqual(["allow", "refuse"]);
    expect(policy.judge(tool, {}, client)).toMatchObject({ reason: expect.stringContaining("in 30 min") });
    await clock.advance(HOUR_MS / 2);
    expect(verdicts(policy, 2)).toEqual(["allow", "refuse"]);
  });

  test("over a clock that is set back or forward while it runs", () => {
    const clock = fakeClock();
    const policy = policyOf(new ActionHistories({ actionsSince: () => [] }, clock), 1);
    expect(verdicts(policy, 1)).toEqual(["allow"]);
    clock.setWallClock(clock.now() + 24 * HOUR_MS);
    expect(verdicts(policy, 1)).toEqual(["refuse"]);
  });

  test("for calls that were written before the clock was set back: they count as if they were now", async () => {
    const clock = fakeClock();
    const journal: ActionJournal = { actionsSince: () => [clock.now() + 5 * HOUR_MS] };
    const policy = policyOf(new ActionHistories(journal, clock), 1);
    expect(verdicts(policy, 1)).toEqual(["refuse"]);
    await clock.advance(HOUR_MS);
    expect(verdicts(policy, 1)).toEqual(["allow"]);
  });
});

test("whenever calls are made and limits changed: no hour ever has more than the limit in force allowed", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 4 }),
      fc.array(fc.record({ minutes: fc.integer({ min: 0, max: 50 }), max: fc.integer({ min: 1, max: 6 }) }), {
        maxLength: 60,
      }),
      async (before, calls) => {
        const clock = fakeClock();
        const madeMs = before.map((minutes) => clock.now() - minutes * 60_000);
        const histories = new ActionHistories({ actionsSince: () => [...madeMs] }, clock);
        for (const { minutes, max } of calls) {
          await clock.advance(minutes * 60_000);
          const within = madeMs.filter((atMs) => clock.now() - atMs < HOUR_MS).length;
          const [verdict] = verdicts(policyOf(histories, max), 1);
          expect(verdict).toBe(within < max ? "allow" : "refuse");
          if (verdict === "allow") madeMs.push(clock.now());
        }
      },
    ),
  );
});

test("a history of very many calls stays bounded and exact", () => {
  let nowMs = 0;
  const clock = { now: () => nowMs, monotonic: () => nowMs };
  const history = new ActionHistories({ actionsSince: () => [] }, clock).of("default");
  for (let index = 0; index < 200_000; index += 1) {
    nowMs += 100;
    history.add(client);
  }
  expect(history.count()).toBe(HOUR_MS / 100);
  expect(history.waitMs(HOUR_MS / 100)).toBe(100);
  nowMs += HOUR_MS;
  expect([history.count(), history.waitMs(1)]).toEqual([0, 0]);
});

describe("each client has a number of its own", () => {
  const [first, second] = ["first", "second"] as ClientId[];
  const refusal = (policy: ReturnType<typeof policyOf>, who: ClientId | undefined) => policy.judge(tool, {}, who!);
  const share = { client_max_actions_per_hour: 2 };
  const ofClient = { verdict: "refuse", rule: "security.policy.client_max_actions_per_hour" };
  const ofAgent = { verdict: "refuse", rule: "security.policy.max_actions_per_hour" };

  test("one that has used its own up stops, others go on, and all together meet the agent's", async () => {
    const clock = fakeClock();
    const policy = policyOf(new ActionHistories({ actionsSince: () => [] }, clock), 3, "default", share);
    for (let act = 0; act < 2; act += 1) expect(refusal(policy, first).verdict).toBe("allow");
    expect(refusal(policy, first)).toMatchObject({
      ...ofClient,
      reason: expect.stringContaining("2 acting calls to one"),
    });
    expect(refusal(policy, second).verdict).toBe("allow");
    expect(refusal(policy, second)).toMatchObject(ofAgent);
    await clock.advance(HOUR_MS);
    expect(refusal(policy, first).verdict).toBe("allow");
  });

  test("with one number only, one client may use all of it, and the limit that is named is the agent's", () => {
    const policy = policyOf(new ActionHistories({ actionsSince: () => [] }, fakeClock()), 2);
    for (let act = 0; act < 2; act += 1) expect(refusal(policy, first).verdict).toBe("allow");
    expect([refusal(policy, first), refusal(policy, second)]).toMatchObject([ofAgent, ofAgent]);
  });

  test("per_client = false counts the agent's total only; 0 is no limit", () => {
    const make = (max: number, more: object) =>
      policyOf(new ActionHistories({ actionsSince: () => [] }, fakeClock()), max, "default", more);
    for (const policy of [make(9, { ...share, per_client: false }), make(9, { client_max_actions_per_hour: 0 })]) {
      for (let act = 0; act < 9; act += 1) expect(refusal(policy, first).verdict).toBe("allow");
      expect(refusal(policy, first)).toMatchObject(ofAgent);
    }
    const policy = make(0, share);
    for (let act = 0; act < 2; act += 1) expect(refusal(policy, first).verdict).toBe("allow");
    expect(refusal(policy, first)).toMatchObject(ofClient);
  });

  test("a yes that comes too late counts against it, too", () => {
    const policy = policyOf(new ActionHistories({ actionsSince: () => [] }, fakeClock()), 9, "default", {
      ...share,
      autonomy: "supervised",
    });
    for (let act = 0; act < 2; act += 1) policy.recordAction(tool, first!);
    expect(() => policy.recordAction(tool, first!)).toThrow(expect.objectContaining({ code: "TOOL_REFUSED" }));
    policy.recordAction(tool, second!);
  });

  test("a restart, a reload and a clock that is set back leave it used", async () => {
    const made = agentFixture({ model: scripted([call("act", {}, "1")], [call("act", {}, "2")], [text("done")]) });
    await ask(made.agent, "go", { clientId: first });
    const { store, clock } = made;
    const histories = new ActionHistories(store.toolCalls, clock);
    for (const policy of [policyOf(histories, 9, "default", share), policyOf(histories, 9, "default", share)]) {
      expect(refusal(policy, first)).toMatchObject(ofClient);
    }
    clock.setWallClock(clock.now() - 5 * HOUR_MS);
    const again = policyOf(new ActionHistories(store.toolCalls, clock), 9, "default", share);
    expect(refusal(again, first)).toMatchObject(ofClient);
    expect(refusal(again, second).verdict).toBe("allow");
  });

  test("of very many clients those without an action in the hour are forgotten, and no count is lost", async () => {
    const clock = fakeClock();
    const policy = policyOf(new ActionHistories({ actionsSince: () => [] }, clock), 0, "default", share);
    const all = Array.from({ length: 3000 }, (_, index) => `client-${index}` as ClientId);
    for (const who of all) for (let act = 0; act < 2; act += 1) policy.judge(tool, {}, who);
    expect(all.every((who) => refusal(policy, who).verdict === "refuse")).toBe(true);
    await clock.advance(HOUR_MS);
    expect(all.every((who) => refusal(policy, who).verdict === "allow")).toBe(true);
  });
});
