// A channel that is on for months must not grow: 24 hours of sync, at the rate of a busy room, on a clock of the test's own.
import type { FetchOptions, FetchResult, Inbound, Json } from "@svc/contract";
import { fakeClock } from "@svc/testkit/fake-clock";
import { memorySecrets } from "@svc/testkit/memory-secrets";
import { openChannel } from "@svc/testkit/open-channel";
import { BOT, PERSON } from "@svc/testkit/platforms/matrix/server";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import type { Config } from "../src/config.ts";
import { create } from "../src/federated.ts";
import definition from "../src/index.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const DAY_MS = 86_400_000;
/** The homeserver answers a sync when something was said, else after this. */
const POLL_MS = 30_000;
const SAID_EVERY_MS = 20_000;
const ROOMS = 40;
const MIB = 1_048_576;
const MOST_GROWTH_MIB = 24;

test("24 hours of sync keep nothing that grows with them", async () => {
  const startMs = Date.UTC(2026, 5, 1);
  const clock = fakeClock(startMs);
  const counts = { syncs: 0, said: 0, received: 0, bytes: 0 };
  const marks: number[] = [];
  const heap = (): number => {
    collect();
    return process.memoryUsage().heapUsed / MIB;
  };
  const ending = new AbortController();
  const reply = (json: Json): FetchResult => {
    const bytes = Buffer.from(JSON.stringify(json));
    counts.bytes += bytes.length;
    return { status: 200, headers: {}, bytes, truncated: false, url: "https://hs.test/" };
  };
  const sync = async (since: string | null): Promise<Json> => {
    counts.syncs += 1;
    if (since === null) return { next_batch: "s0" };
    const isSaid = counts.syncs % 4 !== 0;
    await clock.advance(isSaid ? SAID_EVERY_MS : POLL_MS);
    // After the caches are warm, and after the day.
    const passedMs = clock.now() - startMs;
    if (marks.length === 0 && passedMs > DAY_MS / 12) marks.push(heap());
    if (passedMs > DAY_MS + DAY_MS / 12) {
      marks.push(heap());
      ending.abort(new Error("the day is over"));
    }
    const next_batch = `s${counts.syncs}`;
    if (!isSaid) return { next_batch, device_one_time_keys_count: { signed_curve25519: 50 } };
    counts.said += 1;
    const room = `!room${counts.said % ROOMS}:hs.test`;
    const common = { sender: PERSON, origin_server_ts: clock.now(), unsigned: { age: 12 } };
    const member = {
      ...common,
      type: "m.room.member",
      state_key: PERSON,
      event_id: `$member${counts.said}`,
      content: { membership: "join", displayname: `Ada ${counts.said}` },
    };
    const message = {
      ...common,
      type: "m.room.message",
      event_id: `$event${counts.said}`,
      content: { msgtype: "m.text", body: `message ${counts.said} ${"words ".repeat(20)}` },
    };
    const events = counts.said % 10 === 0 ? [member, message] : [message];
    return { next_batch, rooms: { join: { [room]: { timeline: { events, limited: false, prev_batch: "t" } } } } };
  };
  const fetch = async (url: string, options: FetchOptions = {}): Promise<FetchResult> => {
    options.signal?.throwIfAborted();
    const { pathname, searchParams } = new URL(url);
    if (pathname.endsWith("/whoami")) return reply({ user_id: BOT });
    if (pathname.endsWith("/sync")) return reply(await sync(searchParams.get("since")));
    if (pathname.endsWith("/members")) {
      const members = [BOT, PERSON].map((user) => ({
        type: "m.room.member",
        state_key: user,
        content: { membership: "join", displayname: user },
      }));
      return reply({ chunk: members });
    }
    return { ...reply({ errcode: "M_NOT_FOUND", error: "Not found" }), status: 404 };
  };
  const receive = async (messages: readonly Inbound[]) => {
    counts.received += messages.length;
    return messages.map(() => "kept" as const);
  };
  const section = { homeserver: "https://hs.test", access_token: "t", user_id: BOT, allowed_users: [PERSON] };
  const opened = openChannel<Config>({ definition, create }, section, {
    clock,
    fetch,
    receive,
    state: memorySecrets(),
  });
  await opened.made.run!(ending.signal);
  const [before = 0, after = 0] = marks;
  console.log(
    `${counts.syncs} syncs, ${counts.received} messages, ${(counts.bytes / MIB).toFixed(1)} MiB read: ` +
      `heap ${before.toFixed(1)} MiB, then ${after.toFixed(1)} MiB`,
  );
  expect(counts.syncs).toBeGreaterThan(3_500);
  expect(counts.received).toBe(counts.said);
  expect(after - before).toBeLessThan(MOST_GROWTH_MIB);
});
