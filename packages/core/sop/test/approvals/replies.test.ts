// A word of somebody who may not answer, or in another place, that approves something.
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  approvals,
  ask,
  channels,
  clock,
  events,
  key,
  OPERATOR,
  posted,
  registryForEachTest,
  request,
  restart,
  ROOM,
  said,
  say,
  statusOf,
  store,
} from "./fixture.ts";

registryForEachTest();

describe("a word", () => {
  test("of an approver where it was asked answers it; he is told by the answer to it, the others on their own", async () => {
    await ask("r-1", { conversations: [ROOM, { channel: "chat", id: "other" }] });
    const told = await say("Approve  Use TLS", { senderName: "Alice" });
    expect(told).toBe('#1 ("Deploy?"): approved by Alice (alice) on chat.\n> Use TLS');
    expect(approvals.get(key("r-1"))).toMatchObject({
      status: "approved",
      answer: { feedback: "Use TLS", by: "Alice (alice) on chat", via: "chat" },
    });
    expect(posted().slice(2)).toEqual([`chat/other: ${told}`]);
    expect(events.at(-1)).toMatchObject({ type: "human_approval_resolved", approved: true, feedback: "Use TLS" });
  });

  test.each([
    ["of somebody who is no approver", { sender: "mallory" }],
    ["of somebody who calls himself one", { sender: "mallory", senderName: "alice" }],
    ["in another chat", { conversation: { channel: "chat", id: "other" } }],
    ["in a thread that nobody opened for it", { conversation: { ...ROOM, thread: "t" } }],
    ["on another channel", { conversation: { channel: "mail", id: "room" } }],
    ["as a reaction", { kind: "reaction" as const }],
    ["that is forwarded or of another program's button", { secondHand: true as const }],
  ])("%s is a message like any other", async (_, change) => {
    channels.set("mail", { approvers: ["alice"], maxChars: 4000 });
    await ask("r-1");
    expect(await say("approve", change)).toBe("ordinary");
    expect(statusOf("r-1")).toBe("waiting");
    expect(events).toHaveLength(1);
  });

  test("in reply to the question picks it among several; in reply to another message it picks none", async () => {
    await ask("r-1");
    const { prompts } = await ask("r-2");
    await store.write(() =>
      ["p-1", "p-2"].map((id, at) => store.outbox.sent(prompts[0]!.delivery - 1 + at, id, clock.now())),
    );
    expect(await say("yes", { repliesTo: "p-9" })).toContain("Nothing was answered. Say which one");
    expect(await say("yes", { repliesTo: "p-2" })).toContain("#2");
    expect([statusOf("r-1"), statusOf("r-2")]).toEqual(["waiting", "approved"]);
    expect(await say("yes", { repliesTo: "p-2" })).toContain("Nothing was answered");
    expect(await say("yes #1", { repliesTo: "p-2" })).toContain("#1");
  });

  test("in reply to a message counts where the platform tells no id of the question", async () => {
    const { prompts } = await ask("r-1");
    await store.write(() => store.outbox.sent(prompts[0]!.delivery, undefined, clock.now()));
    expect(await say("yes", { repliesTo: "p-9" })).toContain("approved");
  });

  test("in reply to another message answers nothing while the platform has not confirmed the question", async () => {
    await ask("r-1");
    expect(await say("yes", { repliesTo: "p-9" })).toContain("Nothing was answered");
    expect(statusOf("r-1")).toBe("waiting");
    expect(await say("yes #1", { repliesTo: "p-9" })).toContain("approved");
  });

  test("that is no keyword is a message like any other", async () => {
    await ask("r-1");
    for (const text of ["approved", "yesterday", "hello", "", "I say yes", "#1 approve"]) {
      expect(await say(text)).toBe("ordinary");
    }
  });

  test("counts in the thread that the channel opened, and its outcome is told there", async () => {
    const { prompts } = await ask("r-1");
    const thread = { channel: "chat", id: "opened" };
    await store.write(() => store.approvals.setOpened(prompts[0]!.delivery, thread));
    restart();
    expect(await say("no", { conversation: thread })).toContain("rejected by alice");
    expect(posted()).toHaveLength(1);
    const { prompts: more } = await ask("r-2");
    await store.write(() => store.approvals.setOpened(more[0]!.delivery, thread));
    await approvals.resolve(key("r-2"), { ...OPERATOR, approved: true });
    expect(posted().at(-1)).toMatch(/^chat\/opened: #2 /);
  });

  test("answers in the conversation with its own keywords only", async () => {
    await ask("r-1", { approveKeywords: ["ship it"], rejectKeywords: [] });
    expect(await say("yes")).toBe("ordinary");
    expect(await say("no")).toBe("ordinary");
    expect(await say("SHIP  IT now")).toContain("approved");
  });

  test("answers nothing where no keywords are", async () => {
    await ask("r-1", { approveKeywords: [], rejectKeywords: [] });
    expect(await say("approve")).toBe("ordinary");
    expect(posted()[0]).toContain("No word answers it here.");
  });

  test("after a reload counts by the approvers that are in force now", async () => {
    await ask("r-1");
    channels.set("chat", { approvers: ["carol", "*"], maxChars: 4000 });
    expect(await say("yes")).toBe("ordinary");
    expect(await say("yes", { sender: "dave" })).toBe("ordinary");
    expect(await say("yes", { sender: "carol" })).toContain("approved");
  });

  test("is compared as allowlists compare", async () => {
    channels.set("chat", {
      approvers: ["+49 170 123", "Bob@Example.com", "@corp.test", "Kim", "federated_users/ada@other.test"],
      maxChars: 4000,
    });
    await ask("r-1");
    for (const sender of [
      "+4917012",
      "bob@example.com.evil",
      "x@sub.corp.test",
      "kim",
      "\u212aim",
      "Kim ",
      "",
      "federated_users/eve@corp.test",
      "federated_users/Ada@other.test",
    ]) {
      expect(await say("yes", { sender })).toBe("ordinary");
    }
    for (const sender of ["+49170123", "BOB@example.com", "x@corp.test", "Kim", "federated_users/ada@other.test"]) {
      expect(approvals.replies.takes(said("yes", { sender }), clock.now())).toBe(true);
    }
  });
});

test("whatever is written, only an approver's keyword in the right place answers", async () => {
  const places = [ROOM, { channel: "chat", id: "other" }, { ...ROOM, thread: "t" }];
  const text = fc.oneof(
    fc.constantFrom("yes", "no", "approve #1", "reject #2", "approve #3 x", "YES please"),
    fc.string({ unit: "grapheme", maxLength: 20 }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ text, sender: fc.constantFrom("alice", "mallory"), at: fc.nat(2) }), { maxLength: 8 }),
      fc.nat(1_000_000_000),
      async (messages, run) => {
        const { n } = (await approvals.request(request(`p-${run}-${events.length}`))).approval;
        const waitsStill = (): boolean => store.approvals.read(n)!.status === "waiting";
        for (const { text: words, sender, at } of messages) {
          const waited = waitsStill();
          await say(words, { sender, conversation: places[at]! });
          const mayAnswer = sender === "alice" && at === 0 && /^\s*(yes|no|approve|reject)(\s|$)/i.test(words);
          expect(waited && !waitsStill() && !mayAnswer).toBe(false);
        }
        await store.write(() => approvals.cancelIn(store.approvals.read(n)!, "the next one"));
      },
    ),
    { numRuns: cases(50) },
  );
});
