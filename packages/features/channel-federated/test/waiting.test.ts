// Messages that wait for their keys: for a day, over restarts, in a bounded space, and without asking for one key a thousand times.
import { captureLogger } from "@svc/testkit/capture-logger";
import { type FakeClock, fakeClock } from "@svc/testkit/fake-clock";
import { memorySecrets } from "@svc/testkit/memory-secrets";
import { halfOfEachWait } from "@svc/testkit/half-of-each-wait";
import { beforeEach, expect, test } from "vitest";
import type { Crypto, Decrypted } from "../src/crypto.ts";
import type { ReadEvents, RoomEvent } from "../src/event-reader.ts";
import { WAITING, waitingEvents } from "../src/waiting.ts";

const DAY_MS = 86_400_000;
const never = new AbortController().signal;

let clock: FakeClock;
let log: ReturnType<typeof captureLogger>;
let state: ReturnType<typeof memorySecrets>;
/** Sessions whose keys are here, from which index on. */
let keys: Map<string, number>;
let tried: string[];
let asked: string[];
let backup: Set<string>;
/** Why there is no key, by session. */
let withheld: Map<string, string>;
beforeEach(() => {
  [clock, log, state] = [fakeClock(Date.UTC(2026, 5, 1)), captureLogger(), memorySecrets()];
  [keys, tried, asked, backup, withheld] = [new Map(), [], [], new Set(), new Map()];
});

const event = (id: string, session = "s", index = 0, padding = 0): RoomEvent => ({
  roomId: "!a:hs.test",
  event: { event_id: `$${id}`, index, content: { session_id: session, ciphertext: "x".repeat(padding) } },
});

const crypto = {
  async decrypt(_room: string, { event_id: id, index, content }: Record<string, unknown>): Promise<Decrypted> {
    tried.push(String(id));
    const { session_id: sessionId } = content as { session_id: string };
    if (sessionId === "broken") return { state: "unreadable" };
    const first = keys.get(sessionId);
    if (first === undefined || Number(index) < first) {
      const code = withheld.get(sessionId);
      return {
        state: "waiting",
        sessionId,
        isMissing: first === undefined,
        ...(code !== undefined && { withheld: code }),
      };
    }
    return { state: "decrypted", event: {} };
  },
} as unknown as Crypto;

const open = () =>
  waitingEvents(state, {
    crypto,
    async findKey(_room, sessionId) {
      asked.push(sessionId);
      if (!backup.has(sessionId)) return false;
      keys.set(sessionId, 0);
      return true;
    },
    context: { clock, log },
  });

const read = (waiting: readonly RoomEvent[], more: Partial<ReadEvents> = {}): ReadEvents => ({
  inbound: [],
  redacted: new Set(),
  ...more,
  waiting,
});
const NONE = { events: [], unreadable: [] };

/** As the sync does it. */
async function step(
  waiting: Awaited<ReturnType<typeof open>>,
  { brought = false, came = [] as readonly RoomEvent[], more = {} as Partial<ReadEvents> } = {},
) {
  const opened = await waiting.open(brought, never);
  const inbound = opened.events.map(({ event: { event_id: id } }) => ({ id: String(id) }) as never);
  const change = waiting.after(opened, read(came, { inbound, ...more }));
  if (change.text !== undefined) await state.set(WAITING, change.text);
  waiting.replace(change);
  return { opened: opened.events.map(({ event: { event_id: id } }) => id), ...change };
}

test("is opened when its key comes, by the next process too, and in the order of its arrival", async () => {
  await step(await open(), { came: [event("1"), event("2", "other"), event("3")] });
  expect((await step(await open())).opened).toEqual([]);
  keys.set("s", 0);
  const next = await open();
  expect((await step(next)).opened).toEqual(["$1", "$3"]);
  expect((await step(next, { brought: true })).opened).toEqual([]);
  keys.set("other", 0);
  expect((await step(next, { brought: true })).opened).toEqual(["$2"]);
  expect(await state.get(WAITING)).toBe("[]");
});

test("nothing is written while nothing changes", async () => {
  const waiting = await open();
  await step(waiting, { came: [event("1")] });
  expect((await step(waiting, { brought: true })).text).toBeUndefined();
  // The homeserver shows it once more.
  expect((await step(waiting, { came: [event("1")] })).text).toBeUndefined();
});

test("a day later it is given up, with a line in the log, whatever becomes of the wall clock", async () => {
  const waiting = await open();
  await step(waiting, { came: [event("1")] });
  await clock.advance(DAY_MS / 2);
  await step(waiting, { came: [event("2", "t")] });
  await clock.advance(DAY_MS / 2 - 1);
  expect((await step(waiting)).ended).toEqual([]);
  await clock.advance(1);
  expect((await step(waiting)).ended).toEqual([{ id: "$1", as: "failed" }]);
  expect(log.lines.filter(({ message }) => message.includes("within a day"))).toMatchObject([
    { level: "warn", fields: { count: 1 } },
  ]);
  // The next process goes by the wall clock, which may have been set back.
  const now = clock.now.bind(clock);
  clock.now = () => now() - 10 * DAY_MS;
  const next = await open();
  expect((await step(next)).ended).toEqual([]);
  clock.now = () => now() + 400 * DAY_MS;
  expect((await step(next)).ended).toEqual([]);
  await clock.advance(DAY_MS);
  expect((await step(next)).ended).toEqual([{ id: "$2", as: "failed" }]);
});

test("a key that does not come within a minute is told once for its session, and at once where it is withheld", async () => {
  const waiting = await open();
  await step(waiting, { came: [event("1"), event("2")] });
  await clock.advance(59_999);
  await step(waiting, { brought: true });
  expect(log.lines).toEqual([]);
  await clock.advance(1);
  for (let pass = 0; pass < 3; pass += 1) await step(waiting, { brought: true });
  const late = { level: "warn", message: expect.stringContaining("its key has not come") };
  expect(log.lines).toMatchObject([{ ...late, fields: { room: "!a:hs.test", event: "$1" } }]);
  await step(waiting, { came: [event("3", "refused")] });
  withheld.set("refused", "m.unverified");
  await step(waiting, { brought: true });
  expect(log.lines.slice(1)).toMatchObject([
    {
      ...late,
      fields: { event: "$3", withheld: "m.unverified", hint: expect.stringContaining("svc channels verify") },
    },
  ]);
  // Another process tells it anew.
  await step(await open());
  expect(log.lines).toHaveLength(4);
});

test("4 MiB wait, the newest; the oldest are given up, with a line in the log", async () => {
  const waiting = await open();
  const crowd = Array.from({ length: 100 }, (_, at) => event(`${at}`, "s", 0, 60_000));
  const { ended, text } = await step(waiting, { came: crowd });
  expect(text!.length).toBeLessThanOrEqual(4_194_304);
  expect(text!.length).toBeGreaterThan(4_100_000);
  expect(ended[0]).toEqual({ id: "$0", as: "failed" });
  expect(ended.length).toBe(100 - JSON.parse(text!).length);
  expect(log.lines).toMatchObject([{ level: "warn", fields: { count: ended.length, maxBytes: 4_194_304 } }]);
  keys.set("s", 0);
  expect((await step(waiting, { brought: true })).opened.at(-1)).toBe("$99");
});

test("one session of which there is no key is tried once in a pass, and the backup is asked less and less", async () => {
  using _ = halfOfEachWait();
  const waiting = await open();
  await step(waiting, { came: Array.from({ length: 500 }, (_, at) => event(`${at}`)) });
  tried.splice(0);
  await step(waiting, { brought: true });
  expect([tried.length, asked.length]).toEqual([1, 1]);
  for (let minute = 0; minute < 24 * 60 - 2; minute += 1) {
    await clock.advance(60_000);
    await step(waiting);
  }
  expect(asked.length).toBeGreaterThan(20);
  expect(asked.length).toBeLessThan(60);
  backup.add("s");
  await clock.advance(60_000);
  await step(await open());
  expect(keys.has("s")).toBe(true);
});

test("a key that begins in the middle of a session opens what comes after", async () => {
  const waiting = await open();
  await step(waiting, { came: [event("early", "s", 0), event("late", "s", 7)] });
  keys.set("s", 5);
  expect((await step(waiting, { brought: true })).opened).toEqual(["$late"]);
});

test("sessions beyond ten are asked for in the next passes", async () => {
  const waiting = await open();
  await step(waiting, { came: Array.from({ length: 25 }, (_, at) => event(`${at}`, `s${at}`)) });
  for (const count of [10, 20, 25, 25]) {
    await step(waiting);
    expect(asked).toHaveLength(count);
  }
});

test("what is redacted, can't be read, or needs no answer leaves the inbox as what it is", async () => {
  const waiting = await open();
  await step(waiting, { came: [event("gone"), event("bad", "broken"), event("edit", "t")] });
  keys.set("t", 0);
  const { ended } = await step(waiting, { brought: true, more: { inbound: [], redacted: new Set(["$gone"]) } });
  expect(ended).toEqual([
    { id: "$bad", as: "failed" },
    { id: "$edit", as: "done" },
  ]);
  expect(await state.get(WAITING)).toBe("[]");
});

test("what came and was redacted at once does not wait", async () => {
  const waiting = await open();
  const change = waiting.after(NONE, read([event("1")], { redacted: new Set(["$1"]) }));
  expect([change.text, change.ended]).toEqual([undefined, []]);
});
