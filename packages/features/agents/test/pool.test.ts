// Child agents are told as what they are: alive, dead, a zombie or over; and only what is on disk is told.
import type { StateStore } from "@svc/contract";
import { SvcError } from "@svc/contract";
import { memorySecrets } from "@svc/testkit/memory-secrets";
import { afterEach, describe, expect, test } from "vitest";
import { poolFixture, settled } from "./pool-fixture.ts";

let fixture = poolFixture();
const opened = async (...args: Parameters<typeof poolFixture>) => {
  fixture = poolFixture(...args);
  await fixture.start();
  return fixture;
};
afterEach(async () => {
  await fixture.stop();
  const violations = fixture.children.flatMap((child) => child.violations);
  const left = fixture.children.filter(({ isOver }) => !isOver).length;
  if (violations.length > 0 || left > 0) throw new Error(`${left} children left; ${violations.join("; ")}`);
});

describe("an agent that answers", () => {
  test("is idle with its answer, its events and its cost", async () => {
    const { make, becomes, pool, context } = await opened();
    const { id } = await make("answers", { title: "a title" });
    const record = await becomes(id, "idle");
    expect(record).toMatchObject({ result: "you said: do it", prompts: 1, costUsd: 0.25, title: "a title" });
    expect(pool.get(id).alive).toEqual({ processAlive: true, pumpAlive: true });
    expect(pool.events(id).map(({ kind }) => kind)).toEqual([
      "status",
      "prompt",
      "thought",
      "tool",
      "tool",
      "text",
      "status",
    ]);
    expect(pool.events(id, 6).map(({ seq }) => seq)).toEqual([7]);
    expect(context.published.map((event) => (event as { status?: string }).status)).toEqual([
      "initializing",
      "running",
      "idle",
    ]);
  });

  test("is asked again, and remembers its session", async () => {
    const { make, becomes, pool } = await opened();
    const { id } = await make("answers");
    await becomes(id, "idle");
    await pool.get(id).prompt("more");
    expect(await becomes(id, "idle")).toMatchObject({ result: "you said: more", prompts: 2 });
  });

  test("is not asked while it runs", async () => {
    const { make, becomes, pool } = await opened();
    const { id } = await make("steady");
    await becomes(id, "running");
    await expect(pool.get(id).prompt("more")).rejects.toThrow("is running");
  });
});

describe("an agent that fails", () => {
  test.each([
    ["dies", "its process ended"],
    ["empty", "its answer was empty"],
    ["refuses", "refusal"],
    ["wrong-session", "its answer was empty"],
    ["leaves-early", "its process ended"],
    ["old-version", "version 99"],
  ])("%s: is an error, because %s", async (mood, reason) => {
    const { make, becomes, pool } = await opened();
    const { id } = await make(mood);
    const record = await becomes(id, "error");
    expect(record.reason).toContain(reason);
    expect(record.result).toBeUndefined();
    expect(pool.get(id).alive).toEqual({ processAlive: false, pumpAlive: false });
  });

  test("one message beyond 8 MiB ends it", async () => {
    const { make, becomes } = await opened();
    const { id } = await make("huge-line");
    expect((await becomes(id, "error")).result).toBeUndefined();
  });

  test("a flood is read, bounded and ended at 64 MiB", { timeout: 60_000 }, async () => {
    const { make, becomes, pool } = await opened();
    const { id } = await make("floods");
    const record = await becomes(id, "error");
    expect(record.reason).toContain("64 MiB");
    const events = pool.events(id);
    expect(events.length).toBeLessThanOrEqual(500);
    expect(Math.max(...events.map(({ text }) => text.length))).toBeLessThanOrEqual(2000);
  });
});

describe("liveness", () => {
  test("a killed process is noticed without the clock", async () => {
    const { make, becomes, children } = await opened();
    const { id } = await make("steady");
    await becomes(id, "running");
    children[0]!.kill();
    expect((await becomes(id, "error")).reason).toContain("its process ended");
  });

  test("a process whose output broke is ended", async () => {
    const { make, becomes, children } = await opened();
    const { id } = await make("steady");
    await becomes(id, "running");
    children[0]!.breakPipe();
    await becomes(id, "error");
    expect(children[0]!.isOver).toBe(true);
  });

  test("one that runs without an event is a zombie after 120 s, within a second", async () => {
    const { make, becomes, clock, pool } = await opened();
    const { id } = await make("steady");
    await becomes(id, "running");
    await clock.advance(119_000);
    await settled();
    expect(pool.get(id).record.status).toBe("running");
    await clock.advance(2000);
    expect((await becomes(id, "error")).reason).toBe("it ran without an event for 120 seconds");
  });

  test("progress of a tool call is a sign of life", async () => {
    const { make, becomes, clock, pool, children } = await opened();
    const { id } = await make("steady");
    await becomes(id, "running");
    for (let minute = 0; minute < 10; minute += 1) {
      await children[0]!.agent.sign();
      await settled();
      await clock.advance(60_000);
      expect(pool.get(id).record.status).toBe("running");
    }
  });

  test("an idle one is no zombie", async () => {
    const { make, becomes, clock, pool } = await opened();
    const { id } = await make("answers");
    await becomes(id, "idle");
    await clock.advance(3_600_000);
    expect(pool.get(id).record.status).toBe("idle");
  });

  test("one that waits for a person is no zombie", async () => {
    const { make, becomes, clock, pool, approvals } = await opened();
    const { promise, resolve } = Promise.withResolvers<void>();
    approvals.wait = promise;
    const { id } = await make("asks");
    await becomes(id, "running");
    await settled();
    await clock.advance(300_000);
    expect(pool.get(id).record.status).toBe("running");
    resolve();
    expect((await becomes(id, "idle")).result).toContain('"optionId":"yes"');
  });

  test("one that never ends its answer is ended at max_run_secs", async () => {
    const { make, becomes, clock, children } = await opened({ max_run_secs: 300 });
    const { id } = await make("steady");
    await becomes(id, "running");
    for (let minute = 0; minute < 5; minute += 1) {
      await clock.advance(60_000);
      await children[0]!.agent.sign();
      await settled();
    }
    await clock.advance(2000);
    expect((await becomes(id, "error")).reason).toContain("longer than 300 seconds");
  });
});

test("a permission that a person refuses is refused to the agent", async () => {
  const { make, becomes, approvals } = await opened();
  approvals.approve = false;
  const { id } = await make("asks");
  expect((await becomes(id, "idle")).result).toContain('"optionId":"no"');
  expect(approvals.asked).toMatchObject([{ callId: "t1", input: { title: "rm -rf build", kind: "execute" } }]);
});

test("an interrupted agent is idle, and answers again", async () => {
  const { make, becomes, pool } = await opened();
  const { id } = await make("cancels");
  await becomes(id, "running");
  await settled();
  await pool.get(id).interrupt();
  expect(await becomes(id, "idle")).toMatchObject({ reason: "it was interrupted", result: undefined });
});

describe("bounds", () => {
  test("no more than max_agents have a process", async () => {
    const { make, becomes, pool } = await opened({ max_agents: 2 });
    const first = await make("answers");
    await make("steady");
    await expect(make("answers")).rejects.toMatchObject({ code: "CHILD_AGENT_LIMIT" });
    await becomes(first.id, "idle");
    await pool.close(first.id, "enough");
    await make("answers");
  });

  test("no deeper than max_depth", async () => {
    const { make, becomes } = await opened({ max_depth: 3 });
    let madeBy: string | undefined;
    for (let depth = 1; depth <= 3; depth += 1) {
      const record = await make("steady", { madeBy, endsWith: madeBy });
      expect(record).toMatchObject({ depth, parent: madeBy });
      madeBy = record.id;
      await becomes(record.id, "running");
    }
    await expect(make("steady", { madeBy })).rejects.toMatchObject({ code: "CHILD_AGENT_LIMIT" });
  });

  test("an unknown program is refused by name", async () => {
    const { make } = await opened();
    await expect(make("nothing")).rejects.toMatchObject({ code: "TOOL_BAD_INPUT" });
  });
});

describe("what an agent ends with", () => {
  test("its turn, unless it is detached", async () => {
    const { make, becomes, endTurn, pool } = await opened();
    const bound = await make("steady", { endsWith: "turn-1", madeBy: "turn-1" });
    const detached = await make("steady", { madeBy: "turn-1" });
    await becomes(bound.id, "running");
    await becomes(detached.id, "running");
    endTurn("turn-1");
    expect((await becomes(bound.id, "closed")).reason).toBe("the turn that made it is over");
    expect(pool.get(detached.id).record.status).toBe("running");
  });

  test("its parent, however that dies", async () => {
    const { make, becomes, children } = await opened();
    const parent = await make("steady");
    await becomes(parent.id, "running");
    const child = await make("steady", { madeBy: parent.id, endsWith: parent.id });
    await becomes(child.id, "running");
    children[0]!.kill();
    await becomes(parent.id, "error");
    expect((await becomes(child.id, "closed")).reason).toBe("the turn that made it is over");
  });
});

describe("the next process of svc", () => {
  test("reports no agent as running, and has every answer that was told", async () => {
    const state = memorySecrets();
    const { make, becomes } = await opened({}, state);
    const answered = await make("answers");
    const working = await make("steady");
    await becomes(answered.id, "idle");
    await becomes(working.id, "running");
    // What a killed process leaves is what was on disk at that moment.
    const rows = await Promise.all((await state.list()).map(async (name) => [name, (await state.get(name))!] as const));
    await fixture.stop();
    const { pool } = await opened({}, memorySecrets(Object.fromEntries(rows)));
    expect(pool.get(answered.id).record).toMatchObject({ status: "closed", result: "you said: do it", pid: undefined });
    expect(pool.get(working.id).record).toMatchObject({ status: "error", reason: "svc ended while it ran" });
    expect(pool.list().map(({ alive }) => alive.processAlive)).toEqual([false, false]);
  });

  test("has the events of before, and goes on with numbers that nobody was told", async () => {
    const state = memorySecrets();
    const { make, becomes, clock, pool: before } = await opened({}, state);
    const { id } = await make("answers");
    await becomes(id, "idle");
    const working = await make("steady");
    await becomes(working.id, "running");
    await fixture.children[1]!.agent.sign();
    await settled();
    const told = before.events(id);
    // Progress is written within seconds, without a change of state.
    await clock.advance(7000);
    await settled();
    const rows = await Promise.all((await state.list()).map(async (name) => [name, (await state.get(name))!] as const));
    await fixture.stop();
    const { pool } = await opened({}, memorySecrets(Object.fromEntries(rows)));
    expect(pool.events(id).slice(0, told.length)).toEqual(told);
    expect(pool.events(id).at(-1)).toMatchObject({ kind: "status", text: "closed: svc was restarted" });
    expect(pool.events(id).at(-1)!.seq).toBeGreaterThan(told.at(-1)!.seq + 500_000);
    expect(pool.events(working.id).map(({ kind }) => kind)).toEqual(["status", "prompt", "tool", "status"]);
  });

  test("ignores rows that it can't read", async () => {
    const { pool } = await opened({}, memorySecrets({ "agent/ag-1": "{", "agent/ag-2": '{"version":2}' }));
    expect(pool.list()).toEqual([]);
  });
});

describe("a budget", () => {
  const code = "CHILD_AGENT_BUDGET";

  test("of money ends it when its program reports more", async () => {
    const { make, becomes } = await opened({ max_cost_usd: 0.2 });
    const { id } = await make("answers");
    expect(await becomes(id, "error")).toMatchObject({ code, reason: "it may cost at most $0.2", result: undefined });
  });

  test("of actions lets it do as many, and ends it at the next", async () => {
    const { make, becomes, pool } = await opened();
    const { id } = await make("answers", { budget: { actions: 1 } });
    expect(await becomes(id, "idle")).toMatchObject({ actions: 1, code: undefined });
    await pool.get(id).prompt("more");
    expect(await becomes(id, "error")).toMatchObject({ code, reason: "it may call tools at most 1 times" });
  });

  test("is no more than the config and what is left of its maker's", async () => {
    const { make, becomes, pool } = await opened({ max_actions: 10 });
    const maker = await make("steady", { budget: { costUsd: 0.3, actions: 99 } });
    await becomes(maker.id, "running");
    const made = { madeBy: maker.id, endsWith: maker.id };
    const first = await make("answers", { ...made, budget: { costUsd: 5 } });
    await becomes(first.id, "idle");
    expect(first.budget).toMatchObject({ costUsd: 0.3, actions: 10 });
    expect(pool.get(maker.id).record.spentBelow).toMatchObject({ costUsd: 0.25, actions: 1 });
  });

  test("ends its maker too, when what it made has spent more", async () => {
    const { make, becomes, children } = await opened();
    const maker = await make("answers", { budget: { costUsd: 0.4 } });
    await becomes(maker.id, "idle");
    const { budget, id } = await make("answers", { madeBy: maker.id });
    expect(budget.costUsd).toBeCloseTo(0.15);
    expect((await becomes(id, "error")).code).toBe(code);
    expect(await becomes(maker.id, "error")).toMatchObject({ code });
    expect(children.map(({ isOver }) => isOver)).toEqual([true, true]);
    await expect(make("answers", { madeBy: maker.id })).rejects.toMatchObject({ code });
  });
});

describe("a reader of events", () => {
  const kinds = async (events: AsyncIterable<{ readonly kind: string } | undefined>) => {
    const found: string[] = [];
    for await (const event of events) found.push(event?.kind ?? "dropped");
    return found;
  };

  test("gets them as they come, until the end", async () => {
    const { make, becomes, pool } = await opened();
    const { id } = await make("answers");
    const all = kinds(pool.follow(id, 0, new AbortController().signal));
    await becomes(id, "idle");
    const later = kinds(pool.follow(id, 6, new AbortController().signal));
    await pool.close(id, "enough");
    expect(await all).toEqual(["status", "prompt", "thought", "tool", "tool", "text", "status", "status"]);
    expect(await later).toEqual(["status", "status"]);
  });

  test("that is slow is told that some were dropped, and goes on with the oldest that is kept", async () => {
    const { make, becomes, pool, children } = await opened();
    const { id } = await make("steady");
    await becomes(id, "running");
    const reader = pool.follow(id, 0, new AbortController().signal);
    expect((await reader.next()).value).toMatchObject({ seq: 1 });
    for (let count = 0; count < 700; count += 1) await children[0]!.agent.sign();
    while (pool.events(id).at(-1)!.seq < 702) await settled();
    expect((await reader.next()).value).toBeUndefined();
    expect((await reader.next()).value).toMatchObject({ seq: pool.events(id)[0]!.seq });
    await reader.return(undefined);
  });

  test("that is gone is not waited for, and one of an ended svc ends", async () => {
    const { make, becomes, pool } = await opened();
    const { id } = await make("steady");
    await becomes(id, "running");
    const gone = new AbortController();
    const first = kinds(pool.follow(id, 2, gone.signal));
    gone.abort(new SvcError("TURN_CANCELLED"));
    await expect(first).rejects.toMatchObject({ code: "TURN_CANCELLED" });
    const second = kinds(pool.follow(id, 2, new AbortController().signal));
    await fixture.stop();
    expect(await second).toEqual(["status"]);
  });
});

test("an answer that can't be stored is told as none", async () => {
  const memory = memorySecrets();
  const state: StateStore = {
    ...memory,
    set: (name, value) =>
      value.includes('"status":"idle"') ? Promise.reject(new SvcError("STORE_FULL")) : memory.set(name, value),
  };
  const { make, becomes } = await opened({}, state);
  const { id } = await make("answers");
  expect(await becomes(id, "error")).toMatchObject({ reason: "its result could not be stored", result: undefined });
});

test("no more than 200 are remembered, the newest", async () => {
  const { make, becomes, pool, state } = await opened();
  const first = await make("empty");
  await becomes(first.id, "error");
  for (let count = 0; count < 201; count += 1) await becomes((await make("empty")).id, "error");
  await settled();
  expect(pool.list().length).toBeLessThanOrEqual(200);
  expect((await state.list("agent/")).length).toBeLessThanOrEqual(200);
  expect(() => pool.get(first.id)).toThrow(SvcError);
});
