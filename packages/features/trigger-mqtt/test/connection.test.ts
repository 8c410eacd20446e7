// What a broker that misbehaves can do: refuse, hang, repeat itself, forget, flood. A message that was acknowledged has started its
// procedure, and none starts one twice.
import { SvcError } from "@svc/contract";
import { memorySecrets } from "@svc/testkit/memory-secrets";
import { describe, expect, test } from "vitest";
import { type Peer, startBroker } from "./broker.ts";
import { type Loop, startLoop } from "./feature.ts";

/** Takes the next message and acknowledges it. */
const acknowledged = async (peer: Peer): Promise<number | undefined> => (await peer.next("puback")).messageId;

test("subscribes in a lasting session, and acknowledges what has started", async () => {
  await using broker = await startBroker();
  await using loop = startLoop({ url: broker.url, username: "u", password: "s3cret", client_id: "one" });
  const peer = await broker.peer();
  const connect = peer.next("connect");
  peer.send({ cmd: "connack", returnCode: 0, sessionPresent: false });
  expect(await connect).toMatchObject({ clientId: "one", clean: false, username: "u", protocolVersion: 4 });
  const { messageId, subscriptions } = await peer.next("subscribe");
  expect(subscriptions).toMatchObject([{ topic: "home/#", qos: 1 }]);
  peer.send({ cmd: "suback", messageId: messageId!, granted: [1] });
  peer.publish({ messageId: 5, payload: '{"open":true}' });
  expect(await acknowledged(peer)).toBe(5);
  expect(loop.started()).toEqual(['home/door {"open":true}']);
  expect(loop.context.log.text()).not.toContain("s3cret");
  expect(await loop.stop()).toBeUndefined();
});

test("acknowledges nothing before the run is on disk, nor what could not be stored", async () => {
  await using broker = await startBroker();
  const asked = Promise.withResolvers<void>();
  const { promise, reject } = Promise.withResolvers<never>();
  const trigger = (): Promise<never> => {
    asked.resolve();
    return promise;
  };
  await using loop = startLoop({ url: broker.url }, { trigger });
  const peer = await broker.peer();
  await peer.welcome();
  peer.publish({});
  await asked.promise;
  expect(peer.count("puback")).toBe(0);
  reject(new SvcError("STORE_FULL"));
  expect(await loop.ended).toMatchObject({ code: "STORE_FULL" });
  await peer.closed;
  expect(peer.count("puback")).toBe(0);
});

describe("after a kill", () => {
  /** A second process with what the first has on disk. */
  async function again(
    first: (peer: Peer) => Promise<void>,
    second: (peer: Peer, loop: Loop) => Promise<void>,
    session = true,
  ): Promise<string[]> {
    await using broker = await startBroker();
    const state = memorySecrets();
    {
      await using loop = startLoop({ url: broker.url }, { state });
      const peer = await broker.peer();
      await peer.welcome();
      await first(peer);
      peer.close();
      await loop.ended;
    }
    await using loop = startLoop({ url: broker.url }, { state });
    const peer = await broker.peer();
    await peer.welcome({ session });
    await second(peer, loop);
    return loop.started();
  }
  const takes =
    (...messages: Parameters<Peer["publish"]>[0][]) =>
    async (peer: Peer) => {
      for (const message of messages) {
        peer.publish(message);
        await acknowledged(peer);
      }
    };

  test.each([true, false])("a message that comes again starts nothing; marked as repeated: %s", async (dup) => {
    expect(await again(takes({ messageId: 3 }), takes({ messageId: 3, dup }))).toEqual([]);
  });

  test("every message of those in flight is known", async () => {
    const two = [
      { messageId: 3, payload: "1" },
      { messageId: 4, payload: "2" },
    ];
    const repeated = two.map((message) => ({ ...message, dup: true }));
    expect(await again(takes(...two), takes(...repeated, { messageId: 5, payload: "1" }))).toEqual(["home/door 1"]);
  });

  test.each([
    ["another number", { messageId: 4, dup: true }],
    ["another payload", { messageId: 3, dup: true, payload: "2" }],
    ["another topic", { messageId: 3, dup: true, topic: "home/gate" }],
  ])("one with %s is another message", async (_what, message) => {
    expect(await again(takes({ messageId: 3 }), takes(message))).toHaveLength(1);
  });

  test("numbers of a session that the broker has lost say nothing", async () => {
    expect(await again(takes({ messageId: 1 }), takes({ messageId: 1 }), false)).toHaveLength(1);
  });

  test("the same button pressed again is a message of its own, though its number comes again", async () => {
    const press = { messageId: 1, payload: "ON" };
    const other = { messageId: 2, payload: "OFF" };
    expect(await again(takes(press), takes(other, press))).toEqual(['home/door "OFF"', 'home/door "ON"']);
  });

  test("a retained message starts again only with another value", async () => {
    const first = takes({ messageId: 1, payload: "ON" });
    const retained = (payload: string) => ({ messageId: 9, payload, retain: true });
    expect(await again(first, takes(retained("ON")), false)).toEqual([]);
    expect(await again(first, takes(retained("OFF"), retained("OFF")), false)).toEqual(['home/door "OFF"']);
  });
});

test("a broker that has seen the acknowledgements may use their numbers for the same payload", async () => {
  await using broker = await startBroker();
  const state = memorySecrets();
  let clock;
  {
    await using loop = startLoop({ url: broker.url }, { state });
    clock = loop.context.clock;
    const peer = await broker.peer();
    await peer.welcome();
    peer.publish({ messageId: 1 });
    await acknowledged(peer);
    await clock.advance(1_000);
    await peer.next("pingreq");
    peer.send({ cmd: "pingresp" });
    while ((await state.get("place")) !== "1 1 1") await new Promise((resolve) => setImmediate(resolve));
  }
  await clock.advance(3_600_000);
  await using loop = startLoop({ url: broker.url }, { state, clock });
  await broker.peer().then(async (peer) => {
    await peer.welcome({ session: true });
    peer.publish({ messageId: 1, dup: true });
    await acknowledged(peer);
  });
  expect(loop.started()).toEqual(["home/door 1"]);
});

describe("a broker that", () => {
  test.each([
    [1, "REMOTE_UNREACHABLE", /MQTT 3\.1\.1/],
    [2, "CHANNEL_UNAUTHORIZED", /client_id/],
    [3, "REMOTE_UNREACHABLE", /not available/],
    [4, "CHANNEL_UNAUTHORIZED", /user name or password/],
    [5, "CHANNEL_UNAUTHORIZED", /user name or password/],
  ])("refuses with %i is told as %s", async (returnCode, code, message) => {
    await using broker = await startBroker();
    await using loop = startLoop({ url: broker.url });
    const peer = await broker.peer();
    await peer.next("connect");
    peer.send({ cmd: "connack", returnCode, sessionPresent: false });
    expect(await loop.ended).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  test("refuses a subscription is told so", async () => {
    await using broker = await startBroker();
    await using loop = startLoop({ url: broker.url });
    const peer = await broker.peer();
    peer.send({ cmd: "connack", returnCode: 0, sessionPresent: false });
    const { messageId } = await peer.next("subscribe");
    peer.send({ cmd: "suback", messageId: messageId!, granted: [128] });
    expect(await loop.ended).toMatchObject({ code: "CHANNEL_UNAUTHORIZED", message: expect.stringMatching(/topics/) });
  });

  test("says nothing is left after 30 seconds", async () => {
    await using broker = await startBroker();
    await using loop = startLoop({ url: broker.url });
    const peer = await broker.peer();
    await peer.next("connect");
    await loop.context.clock.advance(30_000);
    expect(await loop.ended).toMatchObject({ code: "REMOTE_TIMEOUT" });
    await peer.closed;
  });

  test("is not there is told so", async () => {
    const broker = await startBroker();
    await broker[Symbol.asyncDispose]();
    await using loop = startLoop({ url: broker.url });
    expect(await loop.ended).toMatchObject({
      code: "REMOTE_UNREACHABLE",
      message: expect.stringMatching(/ECONNREFUSED/),
    });
  });

  test.each([
    ["breaks off in the middle of a message", Buffer.from("3220000968", "hex")],
    ["sends no MQTT", Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n")],
    ["sends a message with QoS 2", Buffer.from("340500016100", "hex")],
    ["announces 256 MB that are no message", Buffer.from("90ffffff7f", "hex")],
  ])("%s ends the connection, not the process", async (_what, bytes) => {
    await using broker = await startBroker();
    await using loop = startLoop({ url: broker.url });
    const peer = await broker.peer();
    await peer.welcome();
    await peer.raw(bytes);
    setImmediate(() => peer.close());
    expect(await loop.ended).toMatchObject({ code: "REMOTE_UNREACHABLE" });
    expect(loop.started()).toEqual([]);
  });

  test("sends 10 MB has it acknowledged and dropped, with a line in the log", async () => {
    await using broker = await startBroker();
    await using loop = startLoop({ url: broker.url });
    const peer = await broker.peer();
    await peer.welcome();
    peer.publish({ messageId: 1, payload: Buffer.alloc(10_000_000) });
    peer.publish({ messageId: 2, topic: "home/\u001b[2J" });
    peer.publish({ messageId: 3 });
    expect([await acknowledged(peer), await acknowledged(peer), await acknowledged(peer)]).toEqual([1, 2, 3]);
    expect(loop.started()).toEqual(["home/door 1"]);
    expect(loop.context.log.text()).toMatch(/payload larger than 1 MiB.*10000000[^]*control characters/);
    expect(loop.context.log.text()).not.toContain("\u001b");
  });

  test("sends 10 000 messages at once is slowed down to what can be stored", async () => {
    await using broker = await startBroker();
    let running = 0;
    let most = 0;
    await using loop = startLoop(
      { url: broker.url },
      {
        async trigger() {
          most = Math.max(most, (running += 1));
          await new Promise((resolve) => setImmediate(resolve));
          running -= 1;
          return { fits: true, runs: [], skipped: [{ sop: "slow", reason: "max_concurrent" }] };
        },
      },
    );
    const peer = await broker.peer();
    await peer.welcome();
    for (let messageId = 1; messageId <= 10_000; messageId += 1)
      peer.publish({ messageId, payload: String(messageId) });
    for (let count = 1; count <= 10_000; count += 1) await acknowledged(peer);
    expect(most).toBe(1);
    const lines = loop.context.log.lines.filter(({ message }) => message === "messages started no procedure");
    expect(lines).toHaveLength(1);
  });
});
