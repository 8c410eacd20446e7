// A button that answers for somebody who may not, or long after the end.
import { describe, expect, test } from "vitest";
import {
  approvals,
  ask,
  clock,
  having,
  key,
  posted,
  registryForEachTest,
  ROOM,
  say,
  statusOf,
  store,
} from "./house.ts";

registryForEachTest();

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
