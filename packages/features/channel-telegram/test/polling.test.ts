// Nothing that was written may be lost or answered twice, whatever happens between the platform, this process and its disk; and
// who can't poll must be told why.
import { type Inbound, SvcError } from "@svc/contract";
import { fakeClock } from "@svc/testkit/fake-clock";
import type { TelegramPlatform } from "@svc/testkit/platforms/telegram/server";
import { telegramMessage, telegramPress } from "@svc/testkit/platforms/telegram/update";
import { halfOfEachWait } from "@svc/testkit/half-of-each-wait";
import { expect, test } from "vitest";
import { ADA, failure, GROUP, type FixtureAndPlatform, fixtureAndPlatform, NOW_MS, never } from "./fixture.ts";

const write = (platform: TelegramPlatform, id: string, more: Partial<Parameters<typeof telegramMessage>[0]> = {}) =>
  platform.push({ message: telegramMessage({ id, text: `Text ${id}`, from: ADA, atMs: NOW_MS, ...more }) });

/** Runs the channel until `isDone`, or until it ends by itself; the clock goes on meanwhile, in steps of `stepMs`. */
async function whileRunning({ made, context }: FixtureAndPlatform, isDone: () => boolean, stepMs = 250): Promise<void> {
  const stop = new AbortController();
  const course = { isOver: false };
  const running = made.run(stop.signal).finally(() => (course.isOver = true));
  while (!isDone() && !course.isOver) {
    await new Promise((resolve) => setImmediate(resolve));
    await context.clock.advance(stepMs);
  }
  expect(course.isOver).toBe(false);
  stop.abort(new Error("enough"));
  await running;
}

const offsets = ({ platform }: FixtureAndPlatform): (number | undefined)[] =>
  platform.requests
    .filter(({ path }) => path.endsWith("/getUpdates"))
    .map(({ json }) => (json as { offset?: number }).offset);

const textsOf = ({ context }: FixtureAndPlatform): string[] => context.received.map(({ text }) => text);

test("it asks for what it takes, for so long, and confirms by the next request", async () => {
  await using at = await fixtureAndPlatform();
  write(at.platform, "1");
  write(at.platform, "2");
  await whileRunning(at, () => at.platform.isPolled && at.platform.waiting.length === 0);
  expect(textsOf(at)).toEqual(["Text 1", "Text 2"]);
  const first = at.platform.requests.find(({ path }) => path.endsWith("/getUpdates"));
  expect(first?.json).toEqual({
    limit: 100,
    timeout: 30,
    allowed_updates: ["message", "callback_query", "message_reaction"],
  });
  expect(offsets(at)).toEqual([undefined, 860_000_003]);
});

test("an offset is asked for once: a week later the platform may number updates anew", async () => {
  const clock = fakeClock(NOW_MS);
  await using at = await fixtureAndPlatform({}, { clock, given: { clock } });
  write(at.platform, "1");
  await whileRunning(at, () => offsets(at).length >= 4, 1_000);
  expect(offsets(at).slice(0, 4)).toEqual([undefined, 860_000_002, undefined, undefined]);
});

test("asks again, with back-off, for updates that could not be stored, and confirms them only then", async () => {
  using _ = halfOfEachWait();
  const kept: Inbound[] = [];
  let offers = 0;
  const receive = async (messages: readonly Inbound[]) => {
    offers += 1;
    if (offers <= 3) throw new SvcError(offers === 1 ? "BUSY" : "STORE_FULL");
    kept.push(...messages);
    return messages.map(() => "kept" as const);
  };
  await using at = await fixtureAndPlatform({}, { given: { receive } });
  write(at.platform, "1");
  await whileRunning(at, () => at.platform.isPolled && at.platform.waiting.length === 0);
  expect(kept.map(({ text }) => text)).toEqual(["Text 1"]);
  expect(offsets(at)).toEqual([undefined, undefined, undefined, undefined, 860_000_002]);
  const warnings = at.context.log.lines.filter(({ level }) => level === "warn");
  expect(warnings.map(({ fields }) => fields?.["reason"])).toEqual(["BUSY", "STORE_FULL", "STORE_FULL"]);
  expect(warnings.map(({ fields }) => fields?.["retryInMs"])).toEqual([500, 1_000, 2_000]);
});

test("a process that ends before the disk has it leaves it to the next one", async () => {
  const held = Promise.withResolvers<never>();
  held.promise.catch(() => undefined);
  const offered = Promise.withResolvers<void>();
  await using at = await fixtureAndPlatform(
    {},
    {
      given: {
        receive: () => {
          offered.resolve();
          return held.promise;
        },
      },
    },
  );
  write(at.platform, "1");
  const stop = new AbortController();
  const running = at.made.run(stop.signal);
  await offered.promise;
  expect(at.platform.waiting).toHaveLength(1);
  stop.abort(new Error("killed"));
  held.reject(new SvcError("DRAINING"));
  await running;
  expect(at.platform.waiting).toHaveLength(1);
  // Its end is nothing to warn of.
  expect(at.context.log.lines.filter(({ level }) => level === "warn")).toEqual([]);
});

test("what is not for us is confirmed, too", async () => {
  await using at = await fixtureAndPlatform();
  write(at.platform, "1", { from: "9" });
  write(at.platform, "2", { text: undefined as never, more: { new_chat_members: [] } });
  at.platform.push({ callback_query: { id: "x" } });
  await whileRunning(at, () => at.platform.isPolled && at.platform.waiting.length === 0);
  expect(textsOf(at)).toEqual([]);
});

test("a press is answered once it is on disk, and a stranger's not at all", async () => {
  await using at = await fixtureAndPlatform();
  const question = await at.channel.prompts.post(
    { conversation: { channel: "telegram", id: ADA }, text: "Deploy?", deliveryId: "d" },
    { id: "ap-1", title: "Deploy?", message: "Now.", approve: "Do it", reject: "Don't" },
    never,
  );
  const message = at.platform.told(at.platform.sent[0]!);
  expect(question.platformId).toBe(String(message["message_id"]));
  at.platform.push({ callback_query: telegramPress({ id: "s", from: "9", data: "p:ap-1:y", message }) });
  at.platform.push({ callback_query: telegramPress({ id: "q", from: ADA, data: "p:ap-1:n", message }) });
  at.platform.push({ callback_query: telegramPress({ id: "o", from: ADA, data: "other", message }) });
  await whileRunning(at, () => at.platform.done.answered.length === 2);
  expect(at.context.received).toMatchObject([
    { text: "Don't", choice: { prompt: "ap-1", approved: false }, sender: ADA, conversation: { id: ADA } },
  ]);
});

const picture = (id: string, album: string, more: Record<string, unknown> = {}) => ({
  text: undefined as never,
  more: { photo: [{ file_id: `file-${id}` }], media_group_id: album, ...more } as never,
});

test("an album is one message, also when its pictures come one by one", async () => {
  await using at = await fixtureAndPlatform();
  write(at.platform, "0");
  write(at.platform, "1", picture("1", "a"));
  let isLate = false;
  await whileRunning(at, () => {
    const asked = offsets(at).length;
    if (asked === 1 && !isLate) {
      isLate = true;
      write(at.platform, "2", picture("2", "a", { caption: "all of it" }));
      write(at.platform, "3", picture("3", "b"));
    }
    return at.platform.isPolled && at.platform.waiting.length === 0;
  });
  expect(textsOf(at)).toEqual(["Text 0", "[image]\n[image]\nall of it", "[image]"]);
  expect(at.context.received[1]?.media?.map(({ ref }) => ref)).toEqual(["file-1", "file-2"]);
});

test("of an album in a group one picture's text says whom it is for", async () => {
  await using at = await fixtureAndPlatform();
  const entities = [{ type: "mention", offset: 0, length: 8 }];
  write(at.platform, "1", { ...picture("1", "a"), chat: GROUP });
  write(at.platform, "2", {
    ...picture("2", "a", { caption: "@svc_bot look", caption_entities: entities }),
    chat: GROUP,
  });
  write(at.platform, "3", { ...picture("3", "b"), chat: GROUP });
  await whileRunning(at, () => at.platform.isPolled && at.platform.waiting.length === 0);
  expect(textsOf(at)).toEqual(["[image]\n[image]\nlook"]);
});

test("a webhook in the way, and another program that polls, are told apart and told about", async () => {
  await using at = await fixtureAndPlatform();
  at.platform.webhook.set({ url: "https://elsewhere.example/" });
  expect(await failure(at.made.run(never))).toMatchObject({
    code: "CHANNEL_DOWN",
    message: "A webhook is set for this bot, and polling is refused meanwhile.",
    hint: expect.stringContaining("svc channels setup telegram"),
  });
  at.platform.webhook.remove();
  const running = at.made.run(never);
  while (!at.platform.isPolled) await new Promise((resolve) => setImmediate(resolve));
  at.platform.pollElsewhere();
  expect(await failure(running)).toMatchObject({
    code: "CHANNEL_DOWN",
    message: "Another program asks for the messages of this bot, with the same token.",
  });
});

test("a token that is withdrawn while it runs ends it for good; a platform that is down does not", async () => {
  await using at = await fixtureAndPlatform();
  for (const [code, expected] of [
    [401, "FEATURE_FAILED"],
    [502, "REMOTE_UNREACHABLE"],
  ] as const) {
    at.platform.failNext("getUpdates", [{ code, description: "As the test wants it" }]);
    expect(await failure(at.made.run(never))).toMatchObject({ code: expected });
  }
});

test.each([
  ["null", null],
  ["an object", {}],
  ["updates without numbers", [{ message: {} }]],
])("an answer that can't be read, %s, is no reason to ask without end", async (_what, result) => {
  await using at = await fixtureAndPlatform();
  at.platform.mood = ({ path }) =>
    path.endsWith("/getUpdates") ? { babbles: JSON.stringify({ ok: true, result }) } : "takes";
  expect(await failure(at.made.run(never))).toMatchObject({ code: "REMOTE_UNREACHABLE" });
});

test("a platform that answers at once with nothing is not asked a thousand times a second", async () => {
  await using at = await fixtureAndPlatform();
  at.platform.mood = ({ path }) => (path.endsWith("/getUpdates") ? { babbles: '{"ok":true,"result":[]}' } : "takes");
  const startMs = at.context.clock.monotonic();
  await whileRunning(at, () => offsets(at).length >= 5);
  expect(at.context.clock.monotonic() - startMs).toBeGreaterThanOrEqual(4_000);
});

test("a connection that says nothing any more is given up", async () => {
  await using at = await fixtureAndPlatform();
  // The limit of a request is the guarded client's, by its clock.
  const limits: (number | undefined)[] = [];
  const fetch: typeof at.context.fetch = (url, options) => {
    limits.push(options?.timeoutMs);
    return url.endsWith("/getUpdates")
      ? Promise.reject(new SvcError("REMOTE_TIMEOUT"))
      : at.context.fetch(url, options);
  };
  await using silent = await fixtureAndPlatform({ api_url: at.platform.apiUrl }, { given: { fetch } });
  expect(await failure(silent.made.run(never))).toMatchObject({ code: "REMOTE_TIMEOUT" });
  expect(limits).toEqual([30_000, 30_000, 45_000]);
});
