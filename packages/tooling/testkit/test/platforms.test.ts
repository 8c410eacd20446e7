// The base of the fake platforms: a fake that is kinder than a platform would prove channels sound that are not.
import { describe, expect, test } from "vitest";
import { type FakePlatform, startPlatform } from "../src/platforms/base.ts";
import { startDeliverer } from "../src/platforms/deliverer.ts";
import type { PlatformMood } from "../src/platforms/mood.ts";
import { seededRandom, shuffled } from "../src/platforms/seeded-random.ts";

const echo = () => startPlatform(({ json }) => ({ status: 201, json: { got: json ?? null } }));
const post = (platform: FakePlatform, signal?: AbortSignal) =>
  fetch(`${platform.url}/messages?a=1`, {
    method: "POST",
    headers: { authorization: "Bearer token-1" },
    body: '{"text":"hello"}',
    ...(signal && { signal }),
  });

describe("a platform", () => {
  test("that takes: does what its handler says, and records what came", async () => {
    await using platform = await echo();
    const answer = await post(platform);
    expect([answer.status, await answer.json()]).toEqual([201, { got: { text: "hello" } }]);
    expect(platform.requests).toMatchObject([
      { method: "POST", path: "/messages", headers: { authorization: "Bearer token-1" }, json: { text: "hello" } },
    ]);
    expect(platform.requests[0]?.query.get("a")).toBe("1");
  });

  test("that refuses quotes what it was sent, credentials and all", async () => {
    await using platform = await echo();
    platform.mood = { refuses: 403 };
    const answer = await post(platform);
    expect(answer.status).toBe(403);
    const words = await answer.text();
    expect(words).toContain("Bearer token-1");
    expect(words).toContain("hello");
  });

  test("that limits says when to come back", async () => {
    await using platform = await echo();
    platform.mood = { rateLimits: 7 };
    const answer = await post(platform);
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "7"]);
  });

  test("that hangs gets the request and never answers", async () => {
    await using platform = await echo();
    platform.mood = "hangs";
    const caller = new AbortController();
    const asked = post(platform, caller.signal);
    expect((await platform.arrived(0)).path).toBe("/messages");
    caller.abort(new Error("enough"));
    await expect(asked).rejects.toThrow("enough");
  });

  test.each<[PlatformMood, number]>([
    ["resets", 0],
    ["loses answers", 1],
  ])("that %s breaks the connection (messages taken: %i)", async (mood, taken) => {
    let count = 0;
    await using platform = await startPlatform(() => ({ json: (count += 1) }));
    platform.mood = mood;
    await expect(post(platform)).rejects.toThrow("fetch failed");
    expect([count, platform.requests.length]).toEqual([taken, 1]);
  });

  test("that is slow answers when its gate opens, and not before", async () => {
    await using platform = await echo();
    const gate = Promise.withResolvers<void>();
    platform.mood = { slow: () => gate.promise };
    const order: string[] = [];
    const answer = post(platform).then(() => order.push("answered"));
    await platform.arrived(0);
    order.push("opened");
    gate.resolve();
    await answer;
    expect(order).toEqual(["opened", "answered"]);
  });

  test("that fails a share of requests fails the same ones in every run", async () => {
    const statuses = async () => {
      await using platform = await echo();
      platform.mood = { fails: 0.3, random: seededRandom(7), how: { refuses: 500 } };
      const all: number[] = [];
      for (let index = 0; index < 40; index += 1) all.push((await post(platform)).status);
      return all;
    };
    const first = await statuses();
    expect(first.filter((status) => status === 500).length).toSatisfy((failed: number) => failed > 4 && failed < 24);
    expect(await statuses()).toEqual(first);
  });

  test("whose mood is a function is in the mood of each request", async () => {
    await using platform = await echo();
    platform.mood = ({ path }) => (path === "/messages" ? { refuses: 500 } : "takes");
    expect([(await post(platform)).status, (await fetch(`${platform.url}/me`)).status]).toEqual([500, 201]);
  });

  test("whose handler throws shows it as a 500, and lives on", async () => {
    await using platform = await startPlatform(({ path }) => {
      if (path === "/messages") throw new Error("a mistake of the fake");
      return { json: null };
    });
    expect(await (await post(platform)).text()).toContain("a mistake of the fake");
    expect((await fetch(platform.url)).status).toBe(200);
  });
});

describe("a deliverer", () => {
  const delivery = (text: string) => ({ method: "POST", query: "?k=v", headers: {}, body: Buffer.from(text) }) as const;
  const texts = (platform: FakePlatform) => platform.requests.map(({ body }) => Buffer.from(body).toString());

  test("delivers until it is told 200, and says what it heard", async () => {
    const answers = [503, 500, 202, 200];
    await using service = await startPlatform(() => ({ status: answers.shift() ?? 500 }));
    const pauses: number[] = [];
    using deliverer = startDeliverer({
      url: () => `${service.url}/in`,
      pause: async (attempt) => void pauses.push(attempt),
    });
    expect(await deliverer.deliver(delivery("m"))).toEqual({ acknowledged: true, statuses: [503, 500, 202, 200] });
    expect(pauses).toEqual([1, 2, 3]);
    expect(service.requests[0]?.query.get("k")).toBe("v");
    expect(deliverer.counts).toEqual({ attempts: 4, acknowledged: 1, duplicates: 0, givenUp: 0 });
  });

  test("gives up after its attempts: connections reset, nobody there, no answer in its patience", async () => {
    const service = await startPlatform(() => ({ status: 200 }));
    const arrivals = [service.arrived(2), service.arrived(3)];
    using deliverer = startDeliverer({
      url: () => service.url,
      attempts: 2,
      patience: async () => void (await arrivals.shift()),
    });
    service.mood = "resets";
    const stubborn = startDeliverer({ url: () => service.url, attempts: 2 });
    expect(await stubborn.deliver(delivery("m"))).toEqual({ acknowledged: false, statuses: [0, 0] });
    service.mood = "hangs";
    expect(await deliverer.deliver(delivery("m"))).toEqual({ acknowledged: false, statuses: [0, 0] });
    await service.close();
    expect(await stubborn.deliver(delivery("m"))).toEqual({ acknowledged: false, statuses: [0, 0] });
    expect(stubborn.counts).toMatchObject({ attempts: 4, givenUp: 2 });
  });

  test("makes each attempt anew where it is given a maker", async () => {
    await using service = await startPlatform(() => ({ status: service.requests.length < 3 ? 500 : 200 }));
    using deliverer = startDeliverer({ url: () => service.url });
    let made = 0;
    await deliverer.deliver(() => delivery(`attempt ${(made += 1)}`));
    expect(texts(service)).toEqual(["attempt 1", "attempt 2", "attempt 3"]);
  });

  test("delivers in order one by one; on demand out of order, twice, and side by side", async () => {
    await using service = await startPlatform(() => ({ status: 200 }));
    using deliverer = startDeliverer({ url: () => service.url });
    const all = Array.from({ length: 50 }, (_, index) => String(index));
    await deliverer.deliverAll(all.map(delivery));
    expect(texts(service)).toEqual(all);

    const random = seededRandom(3);
    const results = await deliverer.deliverAll(all.map(delivery), { width: 4, duplicates: 0.2, disorder: 8, random });
    expect(results).toHaveLength(50);
    expect(results.every(({ acknowledged }) => acknowledged)).toBe(true);
    const second = texts(service).slice(50);
    expect(second.length).toBe(50 + deliverer.counts.duplicates);
    expect(deliverer.counts.duplicates).toBeGreaterThan(0);
    expect(new Set(second).size).toBe(50);
    expect([...new Set(second)]).not.toEqual(all);
  });
});

test("what is shuffled is all there, and nothing is further away than allowed", () => {
  const list = Array.from({ length: 200 }, (_, index) => index);
  const order = shuffled(list, 10, seededRandom(1));
  expect(order.toSorted((a, b) => a - b)).toEqual(list);
  expect(Math.max(...order.map((value, index) => Math.abs(value - index)))).toSatisfy(
    (far: number) => far > 0 && far <= 10,
  );
});
