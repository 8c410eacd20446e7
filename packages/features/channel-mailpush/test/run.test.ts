// The loop: the watch is renewed each day and before it ends, mail is looked for when no push comes, and what stops it for good.
import { memorySecrets } from "@svc/testkit/memory-secrets";
import { afterEach, expect, test } from "vitest";
import { closePlatforms, NOW_MS, open, started, startPlatform, TOPIC, urlsOf } from "./open-channel.ts";

afterEach(closePlatforms);

const from = "ada@example.org";
const HOUR_MS = 3_600_000;
const soon = <T>(value: () => T) => expect.poll(value, { interval: 1 });

async function running(changes: Record<string, unknown> = {}, state = memorySecrets(), platform = startPlatform()) {
  const there = await platform;
  const before = there.requests.length;
  const opened = open({ ...urlsOf(there), ...changes }, { state });
  const ends = started(opened);
  const asked = (path: string) => there.requests.slice(before).filter((request) => request.path.endsWith(path)).length;
  await soon(() => asked("/history")).toBeGreaterThan(0);
  return { ...opened, platform: there, ends, asked };
}

test("it watches at start, each day once, and looks for mail every half an hour", async () => {
  const { platform, context, asked } = await running();
  await soon(() => context.log.lines.length).toBe(1);
  expect(context.log.lines).toMatchObject([
    { fields: { account: "agent@example.com, watched until 2026-02-10T12:00Z" } },
  ]);
  expect(platform.watches).toHaveLength(1);
  for (let half = 1; half <= 96; half += 1) {
    const before = asked("/history");
    platform.arrive({ from, text: `mail ${half}`, atMs: context.clock.now() });
    await context.clock.advance(HOUR_MS / 2);
    await soon(() => asked("/history")).toBe(before + 1);
    await soon(() => context.received.length).toBe(half);
    // The loop sleeps again.
    await soon(() => context.clock.waiting).toBe(1);
  }
  expect(platform.watches).toHaveLength(3);
});

test("a restart does not watch anew within the day; another topic or other labels do", async () => {
  const state = memorySecrets();
  const { platform } = await running({}, state);
  await running({}, state, Promise.resolve(platform));
  expect(platform.watches).toHaveLength(1);
  await running({ label_filter: ["STARRED"] }, state, Promise.resolve(platform));
  expect(platform.watches).toHaveLength(2);
});

test("a watch that ends sooner is renewed an hour before its end, whatever the clock did", async () => {
  const state = memorySecrets();
  const { platform } = await running({}, state);
  const watch = { request: JSON.stringify({ topicName: TOPIC, labelIds: ["INBOX"], labelFilterBehavior: "INCLUDE" }) };
  const restartWith = async (atMs: number, endsAtMs: number) => {
    await state.set("watch", JSON.stringify({ ...watch, atMs, endsAtMs }));
    await running({}, state, Promise.resolve(platform));
    return platform.watches.length;
  };
  expect(await restartWith(NOW_MS - HOUR_MS, NOW_MS + 2 * HOUR_MS)).toBe(1);
  expect(await restartWith(NOW_MS - HOUR_MS, NOW_MS + HOUR_MS)).toBe(2);
  expect(await restartWith(NOW_MS + HOUR_MS, NOW_MS + 9 * HOUR_MS)).toBe(3);
  await state.set("watch", "{half");
  await running({}, state, Promise.resolve(platform));
  expect(platform.watches).toHaveLength(4);
});

test("another mailbox is read from its own beginning, not from where the last one was", async () => {
  const state = memorySecrets();
  await running({}, state);
  const other = await startPlatform({ address: "other@example.com" });
  other.arrive({ from, text: "before" });
  const { context } = await running({}, state, Promise.resolve(other));
  expect(other.watches).toHaveLength(1);
  other.arrive({ from, text: "after" });
  await soon(() => context.clock.waiting).toBe(1);
  await context.clock.advance(HOUR_MS / 2);
  await soon(() => context.received.length).toBe(1);
  expect(context.received).toMatchObject([{ text: "after" }]);
});

test("mail that came while nobody ran is read at start", async () => {
  const state = memorySecrets();
  const first = await running({}, state);
  first.platform.arrive({ from, text: "meanwhile" });
  const second = await running({}, state, Promise.resolve(first.platform));
  await soon(() => second.context.received.length).toBe(1);
  expect(second.context.received).toMatchObject([{ text: "meanwhile" }]);
});

test("refused credentials end it for good; what may get better does not, nor does a config without any", async () => {
  const platform = await startPlatform();
  const ends = (changes: Record<string, unknown> = {}) => started(open({ ...urlsOf(platform), ...changes }));
  await expect(ends({ oauth_token: "wrong" })).rejects.toMatchObject({ code: "FEATURE_FAILED" });
  await expect(ends({ oauth_token: undefined })).rejects.toMatchObject({ code: "CHANNEL_UNAUTHORIZED" });
  platform.mood = { refuses: 503 };
  await expect(ends()).rejects.toMatchObject({ code: "DELIVERY_FAILED" });
});

test("a topic that the mailbox may not tell is told with what to do, and tried again", async () => {
  const platform = await startPlatform({ topics: ["projects/p/topics/other"] });
  await expect(started(open(urlsOf(platform)))).rejects.toMatchObject({
    code: "CHANNEL_CANNOT",
    hint: expect.stringContaining("gmail-api-push@system.gserviceaccount.com"),
  });
});
