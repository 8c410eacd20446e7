// A tool call that runs without a yes, or on the yes to another call; a question that is asked again after each restart.
import { SvcError } from "@svc/contract";
import { describe, expect, test } from "vitest";
import {
  askForTool,
  type AskForToolDeps,
  type ToolAnswer,
  type ToolQuestion,
} from "../../src/approvals/ask-for-tool.ts";
import {
  approvals,
  clock,
  events,
  never,
  OPERATOR,
  posted,
  registryForEachTest,
  restart,
  ROOM,
  say,
  store,
} from "./fixture.ts";

registryForEachTest();

const POSTPONED = new SvcError("TURN_CANCELLED", "The service is stopping.");
const KEY = { runId: "t-1", stepId: "c-1" };

const question = (change: Partial<ToolQuestion> = {}): ToolQuestion => ({
  turnId: "t-1",
  callId: "c-1",
  tool: "shell",
  input: { command: "rm -r build" },
  reason: "The command rm is not on the list.",
  agent: "default",
  command: "rm -r build",
  folder: ".",
  lasting: {},
  ...change,
});

const askPerson = (asked: ToolQuestion, signal = never, change: Partial<AskForToolDeps> = {}): Promise<ToolAnswer> =>
  askForTool({
    approvals,
    store,
    redact: (text) => text.replaceAll("s3cret", "••••••"),
    timeoutMs: () => 300_000,
    isPostponed: (reason) => reason === POSTPONED,
    placeOf: () => ({ askedBy: "agent default", conversations: [ROOM] }),
    ...change,
  })(asked, signal);

/** The question is on disk, and whoever asks waits. */
async function asking(signal?: AbortSignal, asked = question()): Promise<{ answer: Promise<ToolAnswer> }> {
  const answer = askPerson(asked, signal);
  answer.catch(() => undefined);
  await clock.advance(0);
  return { answer };
}

const answer = (approved: boolean, feedback?: string) =>
  approvals.resolve(KEY, { ...OPERATOR, approved, ...(feedback && { feedback }) });

describe("a call", () => {
  test("waits for an answer where it came from, and is told what was said", async () => {
    const { answer: waiting } = await asking();
    expect(posted()).toEqual([
      expect.stringContaining("> May the agent run shell?\n>\n> The command rm is not on the list."),
    ]);
    expect(posted()[0]).toContain('"command": "rm -r build"');
    expect(approvals.get(KEY)).toMatchObject({
      origin: "tool",
      askedBy: "agent default",
      expiresAtMs: clock.now() + 300_000,
    });
    await say("no use a list");
    expect(await waiting).toEqual({ approved: false, feedback: "use a list" });
  });

  test("is approved by a yes alone", async () => {
    const { answer: waiting } = await asking();
    await answer(true);
    expect(await waiting).toEqual({ approved: true });
  });

  test("shows no secret, and not more than people read; that there is more is said", async () => {
    await asking(never, question({ input: { token: "s3cret", text: "x".repeat(10_000) } }));
    const { message } = approvals.get(KEY)!;
    expect(message).not.toContain("s3cret");
    expect(message.length).toBeLessThan(5_000);
    expect(message).toMatch(/\[cut: \d+ more characters\]$/);
  });
});

describe("the same call after a restart", () => {
  test("goes on waiting, and nobody is asked again", async () => {
    const stop = new AbortController();
    const { answer: first } = await asking(stop.signal);
    stop.abort(POSTPONED);
    await expect(first).rejects.toBe(POSTPONED);
    restart();
    const { answer: second } = await asking(never, question({ reason: "Another rule, in other words." }));
    await answer(true, "go");
    expect(await second).toEqual({ approved: true, feedback: "go" });
    expect(posted()).toHaveLength(2);
    expect(events.filter(({ type }) => type === "human_approval_request")).toHaveLength(1);
  });

  test.each([
    [true, undefined, { approved: true }],
    [false, "too early", { approved: false, feedback: "too early" }],
  ])("answered %s meanwhile is answered at once", async (approved, feedback, expected) => {
    await asking();
    await answer(approved, feedback);
    restart();
    expect(await askPerson(question())).toEqual(expected);
    expect(posted()).toHaveLength(2);
  });

  test("whose time was over meanwhile is refused", async () => {
    await asking();
    approvals.stop();
    await clock.advance(300_000);
    restart();
    const { answer: second } = await asking();
    await clock.advance(1);
    expect(await second).toEqual({ approved: false, isRejected: false, feedback: "no answer in time" });
  });
});

describe("another call under the same id", () => {
  test.each([
    ["another input", { input: { command: "rm -r /" } }],
    ["another tool", { tool: "file_write" }],
  ])("with %s is refused, whatever was answered to the first", async (_, change) => {
    await asking();
    const refused = { approved: false, isRejected: false, feedback: expect.stringContaining("under the same id") };
    expect(await askPerson(question(change))).toEqual(refused);
    await answer(true);
    expect(await askPerson(question(change))).toEqual(refused);
  });
});

describe("whoever asks", () => {
  test("and is stopped takes the question back", async () => {
    const stop = new AbortController();
    const { answer: waiting } = await asking(stop.signal);
    const why = new SvcError("TURN_CANCELLED", "The turn was stopped by /stop.");
    stop.abort(why);
    await expect(waiting).rejects.toBe(why);
    expect(approvals.get(KEY)).toMatchObject({ status: "cancelled" });
    expect(posted().at(-1)).toContain("called off: the turn that asked for it is over");
    expect(await askPerson(question())).toMatchObject({ approved: false });
  });

  test("and has no more time lets it expire: a late yes is none", async () => {
    const stop = new AbortController();
    const { answer: waiting } = await asking(stop.signal);
    stop.abort(new SvcError("TOOL_REFUSED", "No answer in time."));
    await expect(waiting).rejects.toMatchObject({ code: "TOOL_REFUSED" });
    expect(approvals.get(KEY)).toMatchObject({ status: "expired" });
    await expect(answer(true)).rejects.toMatchObject({ code: "APPROVAL_EXPIRED" });
  });

  test("and was stopped before asks nobody", async () => {
    await expect(askPerson(question(), AbortSignal.abort(POSTPONED))).rejects.toBe(POSTPONED);
    expect(posted()).toEqual([]);
  });

  test("and is stopped while the question is written takes it back all the same", async () => {
    const stop = new AbortController();
    const waiting = askPerson(question(), stop.signal);
    stop.abort(new SvcError("TURN_CANCELLED"));
    await expect(waiting).rejects.toMatchObject({ code: "TURN_CANCELLED" });
    expect(approvals.get(KEY)).toMatchObject({ status: "cancelled" });
  });

  test("learns nothing new from a yes that came at the same instant as the stop: one of both counts", async () => {
    const stop = new AbortController();
    const { answer: waiting } = await asking(stop.signal);
    const [yes] = await Promise.allSettled([answer(true), Promise.resolve(stop.abort(new SvcError("TURN_CANCELLED")))]);
    await waiting.catch(() => undefined);
    const { status } = approvals.get(KEY)!;
    expect(status === "approved").toBe(yes.status === "fulfilled");
  });
});
