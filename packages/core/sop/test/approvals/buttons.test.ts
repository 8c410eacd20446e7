// A button that answers for somebody who may not, or long after the end.
import { describe, expect, test } from "vitest";
import { approvals, ask, key, registryForEachTest, say, statusOf } from "./house.ts";

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
