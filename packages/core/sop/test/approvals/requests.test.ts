// A question that is asked twice, lost, or taken for another one; one too many.
import { SvcError } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { MAX_WAITING, addApproverCommand, newApproval } from "../../src/approvals/requester.ts";
import {
  approvals,
  ask,
  channels,
  clock,
  DAY,
  events,
  key,
  posted,
  registryForEachTest,
  request,
  restart,
  ROOM,
  store,
  woken,
  yes,
} from "./fixture.ts";

registryForEachTest();

describe("a request", () => {
  test("is kept, told of and posted once, to each conversation", async () => {
    const other = { channel: "chat", id: "other" };
    const approval = await ask("r-1", { conversations: [ROOM, other, { ...ROOM }] });
    expect(approval).toMatchObject({ n: 1, status: "waiting", expiresAtMs: clock.now() + DAY, origin: "external" });
    expect(events).toEqual([expect.objectContaining({ type: "human_approval_request", runId: "r-1", stepId: "gate" })]);
    expect(posted()).toHaveLength(2);
    expect(woken.map(({ conversation, approval: n }) => [conversation.id, n])).toEqual([
      ["room", 1],
      ["other", 1],
    ]);
    expect(approval.prompts.map(({ delivery }) => delivery)).toEqual(woken.map(({ n }) => n));
  });

  test("again, the same, finds the first: nothing is posted or told again, whatever is in between", async () => {
    const first = await ask("r-1");
    const again = await approvals.request(request("r-1", { askedBy: "another", expireMs: 5 }));
    expect(again).toMatchObject({ state: "existing", approval: { n: first.n, expiresAtMs: first.expiresAtMs } });
    restart();
    expect((await approvals.request(request("r-1"))).state).toBe("existing");
    expect(events).toHaveLength(1);
    expect(posted()).toHaveLength(1);
  });

  test.each([
    ["title", { title: "Delete?" }],
    ["message", { message: "something else" }],
    ["keywords", { approveKeywords: ["go"] }],
    ["channels", { channels: [] }],
    ["origin", { origin: "sop" as const }],
    ["subject", { subject: { tool: "shell" } }],
  ])("with another %s under the same key is refused", async (_, change) => {
    await ask("r-1");
    await expect(ask("r-1", change)).rejects.toMatchObject({ code: "APPROVAL_EXISTS" });
    expect(events).toHaveLength(1);
    expect(posted()).toHaveLength(1);
  });

  test("with the same subject is the same, however it is worded", async () => {
    await ask("r-1", { subject: { a: 1 } });
    expect((await approvals.request(request("r-1", { subject: { a: 1 }, title: "Other words" }))).state).toBe(
      "existing",
    );
  });

  test("under the key of one that has ended is refused until that one is gone", async () => {
    await ask("r-1");
    await approvals.resolve(key("r-1"), yes);
    await expect(ask("r-1")).rejects.toMatchObject({ code: "APPROVAL_EXISTS" });
    await store.prune({ sessionDays: 0, maxSessions: 0, toolCallDays: 30, messageDays: 30 }, clock.now() + 31 * DAY);
    expect(await ask("r-1")).toMatchObject({ n: 2, status: "waiting" });
    expect(posted().at(-1)).toContain("#2");
  });

  test.each([
    { runId: "" },
    { runId: ".." },
    { stepId: "a b" },
    { stepId: "a\u202eb" },
    { runId: "x".repeat(257) },
    { approveKeywords: ["no"] },
    { conversations: Array.from({ length: 65 }, (_, at) => ({ channel: "chat", id: `${at}` })) },
  ])("%j is refused, and nobody else pays for it", async (change) => {
    const [bad, good] = await Promise.allSettled([ask("r-1", change), ask("r-2")]);
    expect(bad).toMatchObject({ status: "rejected", reason: { code: "BAD_REQUEST" } });
    expect(good).toMatchObject({ status: "fulfilled", value: { n: 1 } });
  });

  test("inside a transaction that fails is neither kept nor told of", async () => {
    const failed = store.write(() => {
      approvals.requestIn(request("r-1"));
      throw new SvcError("BAD_REQUEST");
    });
    await expect(failed).rejects.toMatchObject({ code: "BAD_REQUEST" });
    expect(approvals.get(key("r-1"))).toBeUndefined();
    expect(events).toEqual([]);
    expect(posted()).toEqual([]);
    expect(clock.waiting).toBe(0);
  });

  test("beyond the most that may wait is told to come back", async () => {
    await store.write(() => {
      for (let n = 0; n < MAX_WAITING; n += 1) {
        store.approvals.add(newApproval(request(`w-${n}`), { clock, expireMs: () => DAY, redact: (text) => text }));
      }
    });
    await expect(ask("r-1")).rejects.toMatchObject({ code: "BUSY" });
    await approvals.resolve(key("w-7"), yes);
    await expect(ask("r-1")).resolves.toMatchObject({ status: "waiting" });
  });

  test("and its answer hold no configured secret, wherever they are read", async () => {
    const hidden = { title: "a s3cret", message: `${"m".repeat(16_380)}s3cret`, askedBy: "s3cret" };
    await ask("r-1", hidden);
    await approvals.resolve(key("r-1"), { ...yes, by: "s3cret", feedback: "it is s3cret" });
    await ask("r-2", hidden);
    expect(await approvals.request(request("r-2", hidden))).toMatchObject({ state: "existing" });
    const seen = JSON.stringify([events, posted(), approvals.list({}, 10)]);
    expect(seen).not.toContain("s3c");
    expect(seen).toContain("it is ••••••");
  });

  test("that is long or full of half letters is bounded, and comes back as it was kept", async () => {
    const approval = await ask("r-1", { title: "\ud800".repeat(500), message: "😀".repeat(20_000) });
    expect(approval.title.length).toBeLessThanOrEqual(300);
    expect(approval.message.length).toBeLessThanOrEqual(16_384);
    expect(approval.message.isWellFormed()).toBe(true);
    restart();
    expect(approvals.get(key("r-1"))!.message).toBe(approval.message);
  });
});

describe("a channel without approvers", () => {
  test("is asked all the same, and told who can answer", async () => {
    channels.set("chat", { approvers: [], maxChars: 4000 });
    await ask("r-1");
    expect(posted()[0]).toContain("No account may answer in this chat.");
    expect(posted()[0]).toContain("svc approvals approve 1");
    expect(posted()[0]).toContain(`svc config set channels_config.chat.approvers '["<account>"]'`);
  });

  test("offers the asker's own account, and only in a form that a shell reads as one word", () => {
    expect(addApproverCommand("chat", "+15551234567")).toBe(
      `svc config set channels_config.chat.approvers '["+15551234567"]'`,
    );
    for (const account of [`'; rm -rf / #`, `"]' x`, "a b", "$(id)", "a\u000ab", "", "x".repeat(129), "‮1"]) {
      expect(addApproverCommand("chat", account)).toContain('["<account>"]');
    }
  });
});
