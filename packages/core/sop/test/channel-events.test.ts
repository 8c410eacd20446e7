// An event of a local program that asks twice, starts twice, says that it told whom it did not, or waits for a dead chat.
import { type ChannelEvent, SvcError } from "@svc/contract";
import { beforeEach, describe, expect, test } from "vitest";
import {
  type ChannelEventDeps,
  type ChannelEvents,
  type NotifiedChannel,
  type PostedEvent,
  createChannelEvents,
} from "../src/channel-events.ts";
import type { SopTriggerEvent } from "../src/library/types.ts";
import {
  approvals,
  clock,
  events,
  key,
  OPERATOR,
  posted,
  registryForEachTest,
  restart,
  ROOM,
  store,
  woken,
} from "./approvals/fixture.ts";

registryForEachTest();

const up = (id: string): NotifiedChannel => ({
  isConfigured: true,
  target: { channel: id, id: "ops" },
  backlog: 0,
  maxChars: 100,
});

let notified: Map<string, NotifiedChannel>;
let told: ChannelEvent[];
let started: SopTriggerEvent[];
let startedAfter: number;
let dispatched: () => void;
let channelEvents: ChannelEvents;

function make(change: Partial<ChannelEventDeps> = {}): void {
  channelEvents = createChannelEvents({
    store,
    clock,
    approvals,
    sops: {
      hasRun: (id) => id === "r-ours",
      dispatchIn(event) {
        started.push(event);
        dispatched();
        return { result: { runs: [], skipped: [] }, committed: () => void (startedAfter += 1) };
      },
    },
    publish: (event) => ({ id: `boot-${told.push(event)}` }),
    knownChannels: () => ["chat", "mail", "pager", "forum", "board"],
    channel: (id) => notified.get(id),
    redact: (text) => text.replaceAll("s3cret", "••••••"),
    wake: (deliveries) => void woken.push(...deliveries),
    ...change,
  });
}

beforeEach(() => {
  notified = new Map([
    ["chat", up("chat")],
    ["mail", up("mail")],
  ]);
  [told, started, startedAfter] = [[], [], 0];
  dispatched = () => undefined;
  make();
});

const event = (change: Partial<PostedEvent> = {}): PostedEvent => ({
  type: "build-done",
  title: "Build 17",
  message: "All green.",
  channels: ["chat"],
  runId: undefined,
  stepId: undefined,
  approveKeywords: undefined,
  rejectKeywords: undefined,
  json: '{"type":"build-done"}',
  ...change,
});

const approval = (change: Partial<PostedEvent> = {}): PostedEvent =>
  event({ type: "human_approval_request", runId: "r-1", stepId: "gate", json: '{"x":1}', ...change });

describe("channels", () => {
  test("that can't be told are named, in their order; the dashboard always is", async () => {
    notified.set("mail", { ...up("mail"), isConfigured: false });
    notified.set("pager", { ...up("pager"), target: undefined });
    // A program that runs wild: nobody reads so much, and the disk must not fill with it.
    notified.set("board", { ...up("board"), backlog: 1_000 });
    const { skipped } = await channelEvents.post(
      event({ channels: ["pager", "dashboard", "chat", "mail", "board", "forum", "pager"] }),
    );
    expect(skipped).toEqual(["pager", "mail", "board", "forum"]);
    expect(posted()).toEqual(["chat/ops: Build 17\n\nAll green."]);
  });

  test("that there are not are refused, and nothing of the event happens", async () => {
    const refused = channelEvents.post(event({ channels: ["chat", "nowhere"] }));
    await expect(refused).rejects.toMatchObject({ code: "BAD_REQUEST", message: expect.stringContaining("channels") });
    await expect(refused).rejects.not.toMatchObject({ message: expect.stringContaining("nowhere") });
    expect([told, started, posted()]).toEqual([[], [], []]);
  });
});

describe("an event", () => {
  test("is told, posted and starts procedures, and its id is the answer", async () => {
    const answer = await channelEvents.post(event());
    expect(answer).toEqual({ eventId: "boot-1", skipped: [] });
    expect(told).toEqual([
      { type: "channel_event", event: "build-done", title: "Build 17", message: "All green.", channels: ["chat"] },
    ]);
    expect(started).toEqual([{ source: "channel_event", topic: "build-done", payload: '{"type":"build-done"}' }]);
    expect(startedAfter).toBe(1);
    expect(woken.map(({ conversation }) => conversation.id)).toEqual(["ops"]);
    expect(events).toEqual([]);
  });

  test("that is long goes out in parts, without secrets; one without words says its type", async () => {
    await channelEvents.post(event({ title: "s3cret", message: "word ".repeat(40) }));
    expect(posted().length).toBeGreaterThan(1);
    expect(JSON.stringify([posted(), events])).not.toContain("s3cret");
    await channelEvents.post(event({ title: " ", message: undefined }));
    expect(posted().at(-1)).toBe("chat/ops: build-done");
  });

  test("whose procedures can't be started is neither told nor posted", async () => {
    dispatched = () => {
      throw new SvcError("STORE_FULL");
    };
    await expect(channelEvents.post(event())).rejects.toMatchObject({ code: "STORE_FULL" });
    expect([told, posted(), woken]).toEqual([[], [], []]);
  });

  test("twice is two", async () => {
    const answers = await Promise.all([channelEvents.post(event()), channelEvents.post(event())]);
    expect(answers.map(({ eventId }) => eventId)).toEqual(["boot-1", "boot-2"]);
    expect(posted()).toHaveLength(2);
  });
});

describe("an approval request", () => {
  test("asks, is told of once, and its id is the answer, also when it is posted again", async () => {
    const first = await channelEvents.post(approval({ channels: ["chat", "dashboard"] }));
    expect(first.skipped).toEqual([]);
    expect(approvals.get(key("r-1"))).toMatchObject({
      origin: "external",
      channels: ["chat", "dashboard"],
      title: "Build 17",
    });
    expect(posted()).toEqual([expect.stringContaining("chat/ops: Approval needed (#1)")]);
    const again = await channelEvents.post(approval({ channels: ["chat", "dashboard"], json: '{"x":2}' }));
    expect(again).toEqual(first);
    expect(events).toHaveLength(1);
    expect(posted()).toHaveLength(1);
    expect(started).toEqual([{ source: "channel_event", topic: "human_approval_request", payload: '{"x":1}' }]);
    expect(told).toEqual([]);
  });

  test("of a hundred alike at once asks once, and all have the same id", async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => channelEvents.post(approval())));
    expect(new Set(answers.map(({ eventId }) => eventId)).size).toBe(1);
    expect(events).toHaveLength(1);
    expect(posted()).toHaveLength(1);
    expect(startedAfter).toBe(1);
  });

  test("has the same id after a restart", async () => {
    const first = await channelEvents.post(approval());
    await clock.advance(0);
    restart();
    make({ store, approvals });
    expect(await channelEvents.post(approval())).toEqual(first);
    expect(events).toHaveLength(1);
  });

  test.each([
    ["r-ours", "step-2", "APPROVAL_EXISTS"],
    ["r-ours", "step-2-interrupted", "APPROVAL_EXISTS"],
    ["r-ours", "review", undefined],
    ["theirs", "step-2", undefined],
  ])("of run %s and step %s takes no key that a run of ours asks under: %s", async (runId, stepId, code) => {
    const refused = channelEvents.post(approval({ runId, stepId })).then(
      () => undefined,
      (error: SvcError) => error.code,
    );
    expect(await refused).toBe(code);
    expect(approvals.get({ runId, stepId })?.status).toBe(code === undefined ? "waiting" : undefined);
  });

  test("that differs from the one that waits, or comes after its end, is refused", async () => {
    await channelEvents.post(approval());
    await expect(channelEvents.post(approval({ title: "Other" }))).rejects.toMatchObject({ code: "APPROVAL_EXISTS" });
    await approvals.resolve(key("r-1"), { ...OPERATOR, approved: true });
    await expect(channelEvents.post(approval())).rejects.toMatchObject({ code: "APPROVAL_EXISTS" });
    expect(started).toHaveLength(1);
  });

  test.each([
    [{ runId: undefined }, "run_id"],
    [{ stepId: undefined }, "step_id"],
    [{ approveKeywords: ["no"] }, "approve_keywords"],
  ])("with %j is refused by the name of the field", async (change, field) => {
    await expect(channelEvents.post(approval(change))).rejects.toMatchObject({
      code: "BAD_REQUEST",
      message: expect.stringContaining(field),
    });
    expect([events, started, posted()]).toEqual([[], [], []]);
  });

  test("without words has a title of ours, and is asked on the page alone where no channel is up", async () => {
    notified.clear();
    const { skipped } = await channelEvents.post(approval({ title: undefined, message: undefined }));
    expect(skipped).toEqual(["chat"]);
    expect(approvals.get(key("r-1"))).toMatchObject({ title: "Approval request", message: "", prompts: [] });
  });
});

test("each chat has a queue of its own, so that a dead one holds up no other", async () => {
  notified.set("chat", { ...up("chat"), target: ROOM });
  await channelEvents.post(event({ channels: ["mail", "chat"] }));
  expect(new Set(woken.map(({ conversationKey }) => conversationKey)).size).toBe(2);
});
