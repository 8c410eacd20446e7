// A word of somebody who may not answer, in another place, or meant for another question, that approves something.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  approvals,
  ask,
  channels,
  clock,
  events,
  having,
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
} from "./house.ts";

registryForEachTest();

const ONE_WAITS = "Nothing was answered. Say which one";

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
  ])("%s is a message like any other", async (_, change) => {
    channels.set("mail", { approvers: ["alice"], maxChars: 4000 });
    await ask("r-1");
    expect(await say("approve", change)).toBe("ordinary");
    expect(statusOf("r-1")).toBe("waiting");
    expect(events).toHaveLength(1);
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
    await store.write(() => store.approvals.addThread(prompts[0]!.delivery, thread));
    restart();
    expect(await say("no", { conversation: thread })).toContain("rejected by alice");
    expect(posted()).toHaveLength(1);
    const { prompts: more } = await ask("r-2");
    await store.write(() => store.approvals.addThread(more[0]!.delivery, thread));
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
    channels.set("chat", { approvers: ["+49 170 123", "Bob@Example.com", "@corp.test", "Kim"], maxChars: 4000 });
    await ask("r-1");
    for (const sender of ["+4917012", "bob@example.com.evil", "x@sub.corp.test", "kim", "\u212aim", "Kim ", ""]) {
      expect(await say("yes", { sender })).toBe("ordinary");
    }
    for (const sender of ["+49170123", "BOB@example.com", "x@corp.test", "Kim"]) {
      expect(approvals.replies.takes(said("yes", { sender }), clock.now())).toBe(true);
    }
  });
});

describe("several that wait in one conversation", () => {
  test("the reply has to say which; else nothing is answered and the sender is told", async () => {
    await ask("r-1", { title: "First" });
    await ask("r-2", { title: "Second" });
    const told = await say("approve");
    expect(told).toContain(ONE_WAITS);
    expect(told).toContain('#1 "First"');
    expect(told).toContain('#2 "Second"');
    expect([statusOf("r-1"), statusOf("r-2")]).toEqual(["waiting", "waiting"]);
    expect(await say("approve #2 well done")).toContain("#2");
    expect(approvals.get(key("r-2"))).toMatchObject({ status: "approved", answer: { feedback: "well done" } });
    expect(await say("no too early")).toContain("#1");
    expect(approvals.get(key("r-1"))).toMatchObject({ status: "rejected", answer: { feedback: "too early" } });
  });

  test("the only one whose keywords fit is meant", async () => {
    await ask("r-1", { approveKeywords: ["ship"], rejectKeywords: [] });
    await ask("r-2");
    expect(await say("ship")).toContain("#1");
    expect([statusOf("r-1"), statusOf("r-2")]).toEqual(["approved", "waiting"]);
  });

  test("a word that approves one and rejects the other is asked back", async () => {
    await ask("r-1", { approveKeywords: ["go"], rejectKeywords: [] });
    await ask("r-2", { approveKeywords: [], rejectKeywords: ["go"] });
    expect(await say("go")).toContain(ONE_WAITS);
    expect(await say("go #2")).toContain("rejected");
    expect([statusOf("r-1"), statusOf("r-2")]).toEqual(["waiting", "rejected"]);
  });

  test("one whose time is over is not counted", async () => {
    await ask("r-1", { expireMs: 1000 });
    await ask("r-2");
    clock.setWallClock(clock.now() + 1000);
    expect(await say("yes")).toContain("#2");
    expect(await say("yes")).toContain("expired");
    expect([statusOf("r-1"), statusOf("r-2")]).toEqual(["waiting", "approved"]);
  });

  test("a hundred are not all listed", async () => {
    await Promise.all(Array.from({ length: 100 }, (_, n) => ask(`r-${n}`)));
    const told = (await say("yes"))!;
    expect(told.split("\n")).toHaveLength(12);
    expect(told).toContain("and 90 more");
  });
});

describe("a number", () => {
  test.each(["approve #2", "approve #99 now", "approve #2."])(
    "of another one (%s) never answers the only one",
    async (text) => {
      await ask("r-1");
      expect(await say(text)).toContain(ONE_WAITS);
      expect(statusOf("r-1")).toBe("waiting");
    },
  );

  test.each([
    ["approve #1", undefined],
    ["approve #1, use TLS", "use TLS"],
    ["approve #1: #2 is next", "#2 is next"],
    ["approve issue #7", "issue #7"],
    ["approve #1x", "#1x"],
  ])("%s", async (text, feedback) => {
    await ask("r-1");
    expect(await say(text)).toContain("approved");
    expect(approvals.get(key("r-1"))!.answer!.feedback).toBe(feedback);
  });

  test("of one that was answered tells who did; of one that was asked elsewhere it tells nothing", async () => {
    await ask("r-1");
    await ask("r-2", { conversations: [{ channel: "chat", id: "other" }] });
    await approvals.resolve(key("r-1"), { ...OPERATOR, approved: true });
    await approvals.resolve(key("r-2"), { ...OPERATOR, approved: true });
    expect(await say("reject #1")).toContain("approved by an operator");
    expect(await say("reject #2")).toBe("ordinary");
    expect(await say("reject #3")).toBe("ordinary");
    expect(await say("what about #1")).toBe("ordinary");
  });
});

describe("a button", () => {
  const press = (n: number, approved: boolean, change = {}): Promise<string | undefined> =>
    say(approved ? "Approve" : "Reject", { choice: { prompt: `ap-${n}`, approved }, ...change });

  test("names its question, however many wait", async () => {
    await ask("r-1");
    await ask("r-2", { approveKeywords: [], rejectKeywords: [] });
    expect(await press(2, false)).toContain("rejected by alice");
    expect([statusOf("r-1"), statusOf("r-2")]).toEqual(["waiting", "rejected"]);
    expect(approvals.get(key("r-2"))!.answer!.feedback).toBeUndefined();
  });

  test("of an answered question tells who answered", async () => {
    await ask("r-1");
    await press(1, true);
    expect(await press(1, false, { sender: "bob" })).toContain("approved by alice");
    expect(statusOf("r-1")).toBe("approved");
  });

  test("that somebody presses who may not answers nothing, and is no message for the agent", async () => {
    await ask("r-1");
    expect(await press(1, true, { sender: "mallory" })).toContain("not among those who may answer");
    expect(await press(1, true, { conversation: { channel: "chat", id: "other" } })).toContain("gone");
    expect(await press(7, true)).toContain("gone");
    expect(statusOf("r-1")).toBe("waiting");
  });

  test("of somebody else's is a message like any other", async () => {
    await ask("r-1");
    expect(await say("approve", { choice: { prompt: "poll-1", approved: true } })).toBe("ordinary");
    expect(await say("approve", { choice: { prompt: "ap-1x", approved: true } })).toBe("ordinary");
    expect(statusOf("r-1")).toBe("waiting");
  });
});

describe("a message that came before", () => {
  test("the question was asked answers nothing, however late its turn comes", async () => {
    const receivedAtMs = clock.now() - 1;
    await ask("r-1");
    expect(approvals.replies.takes(said("yes"), receivedAtMs)).toBe(false);
    expect(await store.write(() => approvals.replies.take(said("yes"), receivedAtMs))).toBeUndefined();
    expect(statusOf("r-1")).toBe("waiting");
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
    expect(await say("yes")).toContain("approved");
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
    { numRuns: 50 },
  );
});

describe("a question with buttons", () => {
  test("is what was asked, without secrets, and says how it ended", async () => {
    const { n } = await ask("r-1", { title: "Deploy\nwith s3cret?", message: "s3cret" });
    expect(approvals.prompts.promptOf(n)).toEqual({
      prompt: { id: "ap-1", title: "Deploy with ••••••?", message: "••••••", approve: "Approve", reject: "Reject" },
      isWaiting: true,
    });
    await say("no");
    expect(approvals.prompts.promptOf(n)).toMatchObject({
      isWaiting: false,
      outcome: '#1 ("Deploy with ••••••?"): rejected by alice on chat.',
    });
    expect(approvals.prompts.promptOf(99)).toBeUndefined();
  });

  test("that was posted into a thread of its own can be answered there, and loses its buttons at the end", async () => {
    const closed: unknown[] = [];
    having({ closePrompt: (posted_, outcome) => void closed.push([posted_, outcome]) });
    const { n, prompts } = await ask("r-1", { conversations: [ROOM, { channel: "chat", id: "other" }] });
    const thread = { channel: "chat", id: "opened" };
    await store.write(() => {
      store.outbox.sent(prompts[0]!.delivery, "msg-7", clock.now());
      approvals.prompts.posted(n, prompts[0]!.delivery, { platformId: "msg-7", thread });
    });
    expect(await say("yes", { conversation: thread })).toContain("approved");
    expect(closed).toEqual([
      [
        { conversation: ROOM, platformId: "msg-7", text: posted()[0]!.replace("chat/room: ", "") },
        '#1 ("Deploy?"): approved by alice on chat.',
      ],
    ]);
  });
});
