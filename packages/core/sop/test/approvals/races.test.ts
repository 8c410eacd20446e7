// Two who answer at the same instant, a message that is older than the question, a kill in the middle.
import { describe, expect, test } from "vitest";
import {
  approvals,
  ask,
  channels,
  clock,
  events,
  key,
  OPERATOR,
  registryForEachTest,
  restart,
  said,
  say,
  statusOf,
  store,
} from "./fixture.ts";

registryForEachTest();

describe("a message that came before", () => {
  test("the question was asked answers nothing, however late its turn comes", async () => {
    const receivedAtMs = clock.now() - 1;
    await ask("r-1");
    expect(approvals.replies.takes(said("yes"), receivedAtMs)).toBe(false);
    expect(await store.write(() => approvals.replies.take(said("yes"), receivedAtMs))).toBeUndefined();
    expect(statusOf("r-1")).toBe("waiting");
  });

  test("the question was asked, and is delivered later, is asked which one it means", async () => {
    const sentAtMs = clock.now();
    clock.setWallClock(sentAtMs + 60_000);
    await ask("r-1");
    expect(await say("yes", { sentAtMs })).toContain("Nothing was answered. Say which one");
    expect(statusOf("r-1")).toBe("waiting");
    expect(await say("yes #1", { sentAtMs })).toContain("approved");
  });

  test("the question was asked by a clock of whole seconds counts", async () => {
    clock.setWallClock(clock.now() + 999);
    await ask("r-1");
    expect(await say("yes", { sentAtMs: Math.floor(clock.now() / 1000) * 1000 })).toContain("approved");
  });

  test("somebody else had answered is told so; one that comes after is a message like any other", async () => {
    await ask("r-1");
    const receivedAtMs = clock.now();
    clock.setWallClock(receivedAtMs + 5000);
    await approvals.resolve(key("r-1"), { ...OPERATOR, approved: true });
    const taken = await store.write(() => approvals.replies.take(said("no"), receivedAtMs));
    expect(taken?.text).toContain("It is over already: approved by an operator");
    expect(await say("no")).toBe("ordinary");
  });

  test("counts when it was the clock that was set back", async () => {
    await ask("r-1");
    clock.setWallClock(clock.now() - 3_600_000);
    expect(await say("yes", { sentAtMs: clock.now() })).toContain("approved");
  });
});

describe("two answers at the same instant", () => {
  test("from a chat, the page and the command line: one counts, all are told, and none goes to the agent", async () => {
    await ask("r-1");
    const inbound = said("approve", { sender: "bob" });
    expect(approvals.replies.takes(inbound, clock.now())).toBe(true);
    const [page, chat, cli] = await Promise.allSettled([
      approvals.resolve(key("r-1"), { by: "phone", via: "page", approved: false }),
      store.write(() => approvals.replies.take(inbound, clock.now())),
      approvals.resolve(key("r-1"), { ...OPERATOR, approved: true }),
    ]);
    expect(page).toMatchObject({ status: "fulfilled", value: { status: "rejected" } });
    expect(chat).toMatchObject({
      status: "fulfilled",
      value: { text: "It is over already: rejected by phone on the page, at 2026-01-01 00:00 UTC." },
    });
    expect(cli).toMatchObject({ status: "rejected", reason: { code: "APPROVAL_RESOLVED" } });
  });

  test("of fifty approvers in the same transaction one counts", async () => {
    channels.set("chat", { approvers: Array.from({ length: 50 }, (_, at) => `a${at}`), maxChars: 4000 });
    await ask("r-1");
    const told = await Promise.all(
      Array.from({ length: 50 }, (_, at) => say(at % 2 === 0 ? "yes" : "no", { sender: `a${at}` })),
    );
    expect(told[0]).toContain("approved by a0");
    expect(told.slice(1).every((text) => text?.includes("It is over already: approved by a0"))).toBe(true);
    expect(events.filter(({ type }) => type === "human_approval_resolved")).toHaveLength(1);
  });
});

test("a message on disk whose answer was not kept answers after a restart", async () => {
  await ask("r-1");
  const lost = store.write(() => {
    approvals.replies.take(said("yes"), clock.now());
    throw new Error("the process dies");
  });
  await expect(lost).rejects.toMatchObject({ code: "STORE_FAILED" });
  restart();
  expect(statusOf("r-1")).toBe("waiting");
  expect(await say("yes")).toContain("approved");
});
