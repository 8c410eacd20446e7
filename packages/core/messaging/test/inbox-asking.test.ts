// A process that ends while a turn waits for a person: the call made twice or never, the person asked twice, the message given up
// because the process was restarted often; and waiting turns that stop everybody else.
import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { defineTool } from "@svc/contract";
import type { Store } from "@svc/store";
import { temporaryHome } from "@svc/testkit/temporary-home";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { suspectDelayMs } from "@svc/agent";
import { call, text, until } from "@svc/agent/agent-fixture";
import {
  afterKill,
  echo,
  lastAsked,
  type MessagingFixture,
  messagingFixture,
  type MessagingFixtureOptions,
  quiet,
  said,
  saidIn,
  type Think,
} from "./messaging-fixture.ts";

/** One life of the service, in which "do …" acts once a person says yes. */
interface Life extends Disposable {
  readonly made: MessagingFixture;
  readonly acts: string[];
  /** What a kill would have left at each commit, and what had been done by then. */
  readonly kills: { readonly folder: string; acts: number }[];
}

function live(options: MessagingFixtureOptions & { readonly remembers?: boolean } = {}): Life {
  const acts: string[] = [];
  const kills: Life["kills"] = [];
  let folder = "";
  let size = 0;
  const remember = (): void => {
    const now = statSync(join(folder, "svc.db-wal")).size;
    if (options.remembers !== true || now === size) return;
    size = now;
    const last = kills.at(-1);
    if (last) last.acts = acts.length;
    const kill = temporaryHome();
    afterKill(folder, kill.path);
    kills.push({ folder: kill.path, acts: 0 });
  };
  const wrap = (store: Store): Store => ({ ...store, write: (change) => store.write(change).finally(remember) });
  const act = defineTool({
    name: "act",
    description: "acts",
    input: v.object({ of: v.string() }),
    approval: "ask",
    run: async ({ of }) => `did ${acts.push(of)}`,
  });
  const think: Think = (model) => {
    const words = lastAsked(model);
    if (!words.startsWith("do")) return echo(model);
    const last = model.prompt.at(-1)!;
    return last.role === "tool" ? [text(`${words}: ${JSON.stringify(last.content)}`)] : [call("act", { of: words })];
  };
  const made = messagingFixture({ think, wrap, verdict: "ask", asks: true, ...options, tools: [act] });
  folder = made.folder;
  return {
    made,
    acts,
    kills,
    [Symbol.dispose]() {
      made[Symbol.dispose]();
      for (const kill of kills) rmSync(kill.folder, { recursive: true, force: true });
    },
  };
}

const approvalsOf = ({ store }: MessagingFixture): string[] =>
  store.approvals.list({}, 200).map(({ status }) => status);
const isOver = ({ store }: MessagingFixture): boolean => store.inbox.counts().inbox.waiting === 0;

/** Says yes as soon as somebody asks, on whichever way. */
async function allow({ made }: Life): Promise<void> {
  while (!isOver(made)) {
    await quiet();
    if (approvalsOf(made)[0] === "waiting") await made.messaging.receive("chat", [said("yes")]);
  }
}

describe("a kill while a person is asked", () => {
  test("at any commit: one question, one answer, and the call made at most once", async () => {
    using first = live({ remembers: true });
    await first.made.receive(said("do it"));
    await allow(first);
    await quiet();
    expect([first.acts.length, approvalsOf(first.made)]).toEqual([1, ["approved"]]);
    first.kills.at(-1)!.acts = 1;
    expect(first.kills.length).toBeGreaterThan(8);
    const reached = new Set<string>();
    for (const { folder, acts } of first.kills) {
      using second = live({ folder, clock: first.made.clock });
      reached.add(approvalsOf(second.made)[0] ?? "none");
      await allow(second);
      await until(() => second.made.store.outbox.counts().waiting === 0);
      expect(approvalsOf(second.made)).toEqual(["approved"]);
      expect(acts + second.acts.length).toBeLessThanOrEqual(1);
      const answers = second.made.answersTo(1).filter((words) => words.startsWith("do it"));
      expect(answers).toHaveLength(1);
      // Done, or the model was told that nobody knows.
      expect(answers[0]).toMatch(acts + second.acts.length === 0 ? /interrupted/ : /did 1|interrupted/);
    }
    expect([...reached].toSorted()).toEqual(["approved", "none", "waiting"]);
  });

  test("however often, is no crash of its message", async () => {
    const homes = Array.from({ length: 8 }, () => temporaryHome());
    using first = live();
    await first.made.receive(said("do it"));
    let { folder } = first.made;
    for (const home of homes) {
      afterKill(folder, home.path);
      using next = live({ folder: home.path, clock: first.made.clock });
      await quiet();
      expect([approvalsOf(next.made), next.made.row(1)]).toMatchObject([
        ["waiting"],
        { state: "waiting", attempts: 0 },
      ]);
      expect(next.made.store.inbox.waiting()).toMatchObject([{ n: 1, crashes: 0 }]);
      ({ folder } = next.made);
    }
    const last = temporaryHome();
    afterKill(folder, last.path);
    using end = live({ folder: last.path, clock: first.made.clock });
    await allow(end);
    expect([end.acts, approvalsOf(end.made)]).toEqual([["do it"], ["approved"]]);
    for (const home of [...homes, last]) home.remove();
  });

  test("counts once the person has answered", async () => {
    const home = temporaryHome();
    const hanging: Think = (model) =>
      model.prompt.at(-1)!.role === "tool" ? new Promise(() => {}) : [call("act", { of: "do" })];
    using made = live({ think: hanging });
    await made.made.receive(said("do it"));
    await made.made.receive(said("yes"));
    expect(made.acts).toHaveLength(1);
    afterKill(made.made.folder, home.path);
    using next = live({ folder: home.path, idle: true });
    expect(next.made.store.inbox.waiting()).toMatchObject([{ n: 1, crashes: 1 }]);
    home.remove();
  });
});

describe("a shutdown while a person is asked", () => {
  test("waits for nobody, and the next start goes on with the same question", async () => {
    const home = temporaryHome();
    using made = live();
    await made.made.receive(said("do it"));
    await made.made.messaging.stop(30_000);
    expect([approvalsOf(made.made), made.made.row(1).state, made.made.row(1).attempts]).toEqual([
      ["waiting"],
      "waiting",
      0,
    ]);
    afterKill(made.made.folder, home.path);
    using next = live({ folder: home.path, clock: made.made.clock });
    expect(next.made.store.inbox.waiting()).toMatchObject([{ n: 1, crashes: 0 }]);
    await quiet();
    expect(next.made.model.asked).toEqual([]);
    await next.made.receive(said("yes"));
    expect([next.acts, approvalsOf(next.made)]).toEqual([["do it"], ["approved"]]);
    home.remove();
  });

  test("that begins just before the question leaves no answer and no apology", async () => {
    for (let ticks = 0; ticks < 12; ticks += 1) {
      using made = live();
      await made.made.messaging.receive("chat", [said("do it")]);
      for (let tick = 0; tick < ticks; tick += 1) await new Promise(setImmediate);
      await made.made.messaging.stop(30_000);
      expect([made.made.row(1).state, made.made.row(1).attempts]).toEqual(["waiting", 0]);
      expect(made.made.answersTo(1)).toEqual([]);
      expect(approvalsOf(made.made).filter((status) => status !== "waiting")).toEqual([]);
      const home = temporaryHome();
      afterKill(made.made.folder, home.path);
      using next = live({ folder: home.path, idle: true });
      expect(next.made.store.inbox.waiting()).toMatchObject([{ n: 1, crashes: 0 }]);
      home.remove();
    }
  });
});

describe("a hundred turns that wait for people", () => {
  test("hold up nobody, with a place for one", async () => {
    const rooms = Array.from({ length: 100 }, (_, n) => `room ${n}`);
    const one = { settings: { maxParallelTurns: 1 }, config: { agent: { max_parallel_turns: 1 } } };
    using made = live(one);
    await made.made.receive(...rooms.map((room) => saidIn(room, `do ${room}`)));
    await until(() => made.made.store.approvals.countWaiting() === 100);
    await made.made.receive(saidIn("other", "hello"));
    expect(made.made.chat.taken.at(-1)).toBe("echo hello");
    await made.made.receive(...rooms.map((room) => saidIn(room, "yes")));
    await until(() => isOver(made.made));
    expect(made.acts.toSorted()).toEqual(rooms.map((room) => `do ${room}`).toSorted());
    expect(made.made.agent.load()).toEqual({ running: 0, waiting: 0 });
    expect(made.made.clock.waiting).toBe(0);
  });

  test("of which one may be what kills the process hold up no other such one", async () => {
    const home = temporaryHome();
    using made = live({ idle: true });
    await made.made.receive(saidIn("a", "do a"), saidIn("b", "do b"));
    const { store } = made.made;
    let { folder } = made.made;
    await store.write(() => [1, 2].forEach((n) => store.inbox.begin(n)));
    // Killed twice while both were being answered.
    const homes = [temporaryHome(), home];
    for (const next of homes) {
      afterKill(folder, next.path);
      using between = live({ folder: next.path, idle: true });
      await between.made.store.write(() => [1, 2].forEach((n) => between.made.store.inbox.begin(n)));
      ({ folder } = between.made);
    }
    const last = temporaryHome();
    afterKill(folder, last.path);
    using suspects = live({ folder: last.path });
    await quiet();
    await suspects.made.pass(suspectDelayMs(3));
    expect(suspects.made.store.inbox.waiting().map(({ crashes }) => crashes)).toEqual([3, 3]);
    expect(suspects.made.store.approvals.countWaiting()).toBe(2);
    for (const one of [...homes, last]) one.remove();
  });
});
