// A button that answers for somebody who may not, or long after the end.
import { describe, expect, test } from "vitest";
import { promptIdOf } from "../../src/approvals/prompt-text.ts";
import { approvals, ask, key, registryForEachTest, say, statusOf, store } from "./fixture.ts";

registryForEachTest();

describe("a button", () => {
  const press = (n: number, approved: boolean, change = {}): Promise<string | undefined> =>
    say(approved ? "Approve" : "Reject", { choice: { prompt: promptOf(n), approved }, ...change });
  const promptOf = (n: number): string => {
    const approval = store.approvals.read(n);
    return approval ? promptIdOf(approval) : `ap-${n}`;
  };

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

  test("of another installation's question of this number answers nothing", async () => {
    await ask("r-1");
    const approval = store.approvals.read(1)!;
    const others = [promptIdOf({ ...approval, createdAtMs: 1 }), promptIdOf({ ...approval, runId: "r-2" }), "ap-1"];
    for (const prompt of others) expect(await say("Approve", { choice: { prompt, approved: true } })).toContain("gone");
    expect(statusOf("r-1")).toBe("waiting");
  });

  test("of somebody else's is a message like any other", async () => {
    await ask("r-1");
    expect(await say("approve", { choice: { prompt: "poll-1", approved: true } })).toBe("ordinary");
    expect(await say("approve", { choice: { prompt: "ap-1x", approved: true } })).toBe("ordinary");
    expect(statusOf("r-1")).toBe("waiting");
  });
});
