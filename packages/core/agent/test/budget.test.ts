// max_cost_per_day: a limit that is dodged by restarting, reloading, stopping turns, moving the clock, a silent provider,
// or by many turns at once is none.
import type { ClientId } from "@svc/contract";
import type { Store } from "@svc/store";
import { fakeClock } from "@svc/testkit/fake-clock";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Budget } from "../src/cost.ts";
import {
  act,
  ask,
  call,
  failure,
  gate,
  hang,
  agentFixture,
  type AgentFixtureOptions,
  scripted,
  text,
  until,
} from "./agent-fixture.ts";

const DAY_MS = 86_400_000;
/** A dollar a call: 10 tokens in, 5 out. */
const DOLLAR = { input_per_million: 100_000, output_per_million: 0 };
const priced = { provider: "openai", name: "m", price: DOLLAR } as const;
const limited = (dollars: number, more: AgentFixtureOptions = {}): AgentFixtureOptions => ({
  config: { model: priced, agent: { max_cost_per_day: dollars } },
  ...more,
});
const answers = (count: number) => Array.from({ length: count }, () => [text("ok")]);
const refused = { code: "COST_LIMIT", status: 429 };

describe("max_cost_per_day", () => {
  test("is what may be spent: the call after it is refused, with the time until 00:00 UTC, and costs nothing", async () => {
    const model = scripted(...answers(3));
    const { agent, store, clock } = agentFixture({ ...limited(2), model });
    expect(await ask(agent, "1")).toMatchObject({ costUsd: 1 });
    await ask(agent, "2");
    await clock.advance(3_600_000);
    const error = await failure(ask(agent, "3"));
    expect(error).toMatchObject({ ...refused, retryAfterMs: DAY_MS - 3_600_000 });
    expect(error.hint).toContain("agent.max_cost_per_day");
    expect(model.asked).toHaveLength(2);
    expect(store.usage.spentUsd("2026-01-01", "default")).toBe(2);
    await clock.advance(error.retryAfterMs!);
    await ask(agent, "3");
    expect(store.usage.spentUsd("2026-01-02", "default")).toBe(1);
  });

  test("holds before every further call of a turn, which keeps what a tool did", async () => {
    const model = scripted([call("act", {}, "1")], [call("act", {}, "2")], [text("done")]);
    const { agent, store } = agentFixture({ ...limited(2), model, tools: [act] });
    expect(await failure(ask(agent, "go", { session: "s" }))).toMatchObject(refused);
    expect(model.asked).toHaveLength(2);
    expect(store.sessions.list({}, 1)).toMatchObject([{ turns: 1 }]);
    expect(store.usage.spentUsd("2026-01-01", "default")).toBe(2);
  });

  test("of zero dollars allows nothing; no limit allows everything", async () => {
    expect(await failure(ask(agentFixture({ ...limited(0), model: scripted() }).agent, "1"))).toMatchObject(refused);
    const free = agentFixture({ config: { model: priced }, model: scripted(...answers(2)) });
    for (const words of ["1", "2"]) await ask(free.agent, words);
  });

  test("ten times ten cents are a dollar", async () => {
    const price = { input_per_million: 10_000, output_per_million: 0 };
    const config = { model: { ...priced, price }, agent: { max_cost_per_day: 1 } };
    const { agent } = agentFixture({ config, model: scripted(...answers(11)) });
    for (let turn = 0; turn < 10; turn += 1) await ask(agent, "go");
    expect(await failure(ask(agent, "go"))).toMatchObject(refused);
  });

  test("does not concern the built-in model, of which nothing is written", async () => {
    const { agent, store } = agentFixture({ config: { agent: { max_cost_per_day: 0 } } });
    expect(await ask(agent, "hello")).toMatchObject({ costUsd: 0 });
    expect(store.usage.list("2000-01-01")).toEqual([]);
  });

  test("is each agent's own", async () => {
    const { agent } = agentFixture({
      ...limited(1),
      agents: { clerk: { model: priced, maxCostPerDay: 1 } },
      model: scripted(...answers(2)),
    });
    await ask(agent, "1");
    await ask(agent, "1", { agent: "clerk" });
    expect(await failure(ask(agent, "2"))).toMatchObject(refused);
    const error = await failure(ask(agent, "2", { agent: "clerk" }));
    expect(error).toMatchObject({ ...refused, hint: expect.stringContaining("agents.clerk.max_cost_per_day") });
  });

  test("without a price nothing runs: the limit could never be reached", async () => {
    const { agent } = agentFixture({
      config: { model: { provider: "openai", name: "m" }, agent: { max_cost_per_day: 1 } },
      model: scripted(...answers(1)),
    });
    expect(await failure(ask(agent, "go"))).toMatchObject({ code: "CONFIG_INVALID" });
  });
});

describe("it can't be dodged", () => {
  test("by a restart or a reload", async () => {
    const first = agentFixture({ ...limited(2), model: scripted(...answers(2)) });
    for (const words of ["1", "2"]) await ask(first.agent, words);
    first.agent.reconfigure(first.set(limited(2)));
    expect(await failure(ask(first.agent, "3"))).toMatchObject(refused);
    const again = agentFixture({ ...limited(2), model: scripted(), store: first.store });
    expect(await failure(ask(again.agent, "3"))).toMatchObject(refused);
  });

  test("by raising and lowering it: running turns obey the lower one at once", async () => {
    const { agent, set } = agentFixture({
      ...limited(9),
      model: scripted(async () => {
        agent.reconfigure(set(limited(1)));
        return [call("read")];
      }),
    });
    expect(await failure(ask(agent, "go"))).toMatchObject(refused);
  });

  test("by taking the agent away under a running turn", async () => {
    const { agent, set } = agentFixture({
      agents: { clerk: { model: priced, maxCostPerDay: 1 } },
      model: scripted(async () => {
        agent.reconfigure(set({}));
        return [call("read")];
      }),
    });
    expect(await failure(ask(agent, "go", { agent: "clerk" }))).toMatchObject(refused);
  });

  test("by turns that fail or are stopped after they have spent", async () => {
    const model = scripted([call("read")], new Error("down"), [call("read")], hang);
    const { agent, store } = agentFixture({ ...limited(2), model });
    expect(await failure(ask(agent, "1", { session: "s" }))).toMatchObject({ code: "MODEL_UNREACHABLE" });
    expect(store.usage.spentUsd("2026-01-01", "default")).toBe(1);
    const stopped = failure(ask(agent, "2", { session: "s" }));
    await until(() => model.asked.length === 3);
    await ask(agent, "/stop", { session: "s" });
    expect(await stopped).toMatchObject({ code: "TURN_CANCELLED" });
    expect(await failure(ask(agent, "3"))).toMatchObject(refused);
    expect(store.usage.list("2026-01-01")).toMatchObject([{ turns: 2, costUsd: 2 }]);
  });

  test("by many turns at once: none begins another call once the limit is reached", async () => {
    const hold = gate();
    const inFlight = async () => (await hold.opened, [call("read")]);
    const model = scripted(...Array.from({ length: 8 }, () => inFlight));
    const { agent, store } = agentFixture(
      limited(3, { config: { model: priced, agent: { max_cost_per_day: 3, max_parallel_turns: 8 } }, model }),
    );
    const outcomes = Array.from({ length: 8 }, (_, turn) => failure(ask(agent, `${turn}`)));
    await until(() => model.asked.length === 8);
    hold.open();
    expect((await Promise.all(outcomes)).map(({ code }) => code)).toEqual(Array(8).fill("COST_LIMIT"));
    // The eight calls in flight were paid; not one more was made.
    expect([model.asked.length, store.usage.spentUsd("2026-01-01", "default")]).toEqual([8, 8]);
  });

  test("by setting the clock back a day, now or before a restart", async () => {
    const clock = fakeClock();
    const { agent, store } = agentFixture({ ...limited(2), clock, model: scripted(...answers(3)) });
    for (const words of ["1", "2"]) await ask(agent, words);
    clock.setWallClock(clock.now() - DAY_MS);
    expect(await failure(ask(agent, "3"))).toMatchObject(refused);
    const again = agentFixture({ ...limited(2), clock, store, model: scripted() });
    expect(await failure(ask(again.agent, "3"))).toMatchObject(refused);
    clock.setWallClock(clock.now() + 2 * DAY_MS);
    expect(await ask(agent, "3")).toMatchObject({ costUsd: 1 });
  });

  test("but a clock that once stood years ahead does not lock the agent for years", async () => {
    const clock = fakeClock();
    const nowMs = clock.now();
    const { agent } = agentFixture({ ...limited(1), clock, model: scripted(...answers(2)) });
    clock.setWallClock(nowMs + 3000 * DAY_MS);
    await ask(agent, "1");
    clock.setWallClock(nowMs);
    expect(await ask(agent, "2")).toMatchObject({ costUsd: 1 });
  });

  test("by a disk that is full: this process counts what it could not write", async () => {
    const { store } = agentFixture({});
    const full: Store = { ...store, write: () => Promise.reject(new Error("full")) };
    const { agent, log } = agentFixture({ ...limited(1), store: full, model: scripted(...answers(1)) });
    await failure(ask(agent, "1"));
    expect(await failure(ask(agent, "2"))).toMatchObject(refused);
    expect(log.text()).toContain("a failed turn could not be kept");
  });
});

describe("client_max_cost_per_day", () => {
  const [first, second] = ["first", "second"] as ClientId[];
  const shared = (dollars: number, ofClient: number, more: AgentFixtureOptions = {}): AgentFixtureOptions => ({
    config: { model: priced, agent: { max_cost_per_day: dollars, client_max_cost_per_day: ofClient } },
    ...more,
  });
  const ofClient = {
    ...refused,
    message: "This client reached its daily cost limit.",
    hint: expect.stringContaining("agent.client_max_cost_per_day"),
  };
  const ofAgent = { ...refused, hint: expect.stringContaining("agent.max_cost_per_day") };

  test("one client spends its own and no more, another goes on, and both together meet the agent's", async () => {
    const { agent, store } = agentFixture({ ...shared(3, 2), model: scripted(...answers(3)) });
    for (const words of ["1", "2"]) await ask(agent, words, { clientId: first });
    expect(await failure(ask(agent, "3", { clientId: first }))).toMatchObject(ofClient);
    await ask(agent, "1", { clientId: second });
    expect(await failure(ask(agent, "2", { clientId: second }))).toMatchObject(ofAgent);
    expect(store.usage.clients("2026-01-01", 9)).toEqual([
      { agent: "default", client: first, channel: "", spentUsd: 2 },
      { agent: "default", client: second, channel: "", spentUsd: 1 },
    ]);
  });

  test("counts without a limit of the agent, and for each agent apart", async () => {
    const { agent } = agentFixture({
      model: scripted(...answers(2)),
      agents: {
        clerk: { model: priced, clientMaxCostPerDay: 1 },
        other: { model: priced, clientMaxCostPerDay: 1 },
      },
    });
    await ask(agent, "1", { agent: "clerk" });
    expect(await failure(ask(agent, "2", { agent: "clerk" }))).toMatchObject({
      ...ofClient,
      hint: expect.stringContaining("agents.clerk.client_max_cost_per_day"),
    });
    await ask(agent, "1", { agent: "other" });
  });

  test("a restart, a reload and a clock that is set back a day leave it spent; a new day does not", async () => {
    const clock = fakeClock();
    const { agent, store, set } = agentFixture({ ...shared(9, 1), clock, model: scripted(...answers(2)) });
    await ask(agent, "1", { clientId: first });
    agent.reconfigure(set(shared(9, 1)));
    expect(await failure(ask(agent, "2", { clientId: first }))).toMatchObject(ofClient);
    clock.setWallClock(clock.now() - DAY_MS);
    expect(await failure(ask(agent, "2", { clientId: first }))).toMatchObject(ofClient);
    const again = agentFixture({ ...shared(9, 1), clock, store, model: scripted(...answers(2)) });
    expect(await failure(ask(again.agent, "2", { clientId: first }))).toMatchObject(ofClient);
    await ask(again.agent, "1", { clientId: second });
    clock.setWallClock(clock.now() + 2 * DAY_MS);
    await ask(again.agent, "2", { clientId: first });
  });

  test("callers without a token share one, whatever connection each comes by", async () => {
    const limitedClient = (clientId: ClientId) =>
      clientId.startsWith("anonymous.") ? ("anonymous" as ClientId) : clientId;
    const { agent } = agentFixture({ ...shared(9, 1), limitedClient, model: scripted(...answers(1)) });
    await ask(agent, "1", { clientId: "anonymous.1" });
    expect(await failure(ask(agent, "2", { clientId: "anonymous.2" }))).toMatchObject(ofClient);
  });

  test("a child agent spends what its owner may", async () => {
    const { agent, store } = agentFixture({ ...shared(9, 1), model: scripted(...answers(2)) });
    const signal = new AbortController().signal;
    const loan = agent.lend({ agent: "default" }, { turnId: "t", clientId: first! });
    const question = [{ role: "user", content: [{ type: "text", text: "go" }] }];
    await loan.askModel(question, signal);
    expect(await failure(loan.askModel(question, signal))).toMatchObject(ofClient);
    expect(await failure(ask(agent, "2", { clientId: first }))).toMatchObject(ofClient);
    await ask(agent, "1", { clientId: second });
    const again = agentFixture({ ...shared(9, 1), store, model: scripted() });
    expect(await failure(ask(again.agent, "2", { clientId: first }))).toMatchObject(ofClient);
  });

  test("of very many clients none is forgotten that spent what is not on disk", () => {
    const budget = new Budget({ spentUsd: () => 0, spentByClientUsd: () => 0 }, fakeClock());
    const all = Array.from({ length: 3000 }, (_, index) => `client-${index}` as ClientId);
    for (const who of all) budget.spend("a", who, 1);
    expect(all.every((who) => budget.spentUsd("a", who) === 1)).toBe(true);
    for (const who of all) budget.recorded("a", who, budget.openDay("a", who), 1);
    for (const who of all) budget.spentUsd("a", who);
    expect(budget.spentUsd("a")).toBe(3000);
  });
});

test("whatever is spent, recorded and looked up in between, over days: the sum is exact", async () => {
  const step = fc.oneof(
    fc.record({ type: fc.constant("spend" as const), cents: fc.integer({ min: 1, max: 500 }) }),
    fc.record({ type: fc.constant("look" as const) }),
    fc.record({ type: fc.constant("hours" as const), hours: fc.integer({ min: 1, max: 30 }) }),
    fc.record({ type: fc.constant("restart" as const) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      let nowMs = Date.UTC(2026, 0, 1);
      const disk = new Map<string, number>();
      const ledger = { spentUsd: (day: string) => disk.get(day) ?? 0, spentByClientUsd: () => 0 };
      const make = () => new Budget(ledger, { now: () => nowMs });
      const today = () => new Date(nowMs).toISOString().slice(0, 10);
      const isRefused = (limitUsd: number) => {
        try {
          budget.check({ name: "a", model: { ...priced, max_retries: 0 }, maxCostPerDay: limitUsd }, undefined);
          return false;
        } catch {
          return true;
        }
      };
      let budget = make();
      for (const step of steps) {
        if (step.type === "hours") nowMs += step.hours * 3_600_000;
        if (step.type === "restart") budget = make();
        if (step.type === "spend") {
          const usd = step.cents / 100;
          budget.spend("a", undefined, usd);
          const day = budget.openDay("a", undefined);
          disk.set(day, (disk.get(day) ?? 0) + usd);
          budget.recorded("a", undefined, day, usd);
        }
        const spent = disk.get(today()) ?? 0;
        expect([isRefused(spent + 0.001), isRefused(spent - 0.001)]).toEqual([false, true]);
      }
    }),
  );
});
