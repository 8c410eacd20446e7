// Out of file descriptors the daemon went on, but silently, and the operator's own `svc status` was refused as well: a
// client that opens connections and says nothing held them all.
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { captureLogger } from "@svc/testkit/capture-logger";
import { fakeClock } from "@svc/testkit/fake-clock";
import { afterEach, describe, expect, test } from "vitest";
import { IdleConnections, limitConnections, mostConnections } from "../src/http/connections.ts";
import { Harness } from "./harness.ts";
import { call, statusOf, Wire } from "./http.ts";

const ends: (() => void)[] = [];
afterEach(() => ends.splice(0).forEach((end) => end()));

async function started(most: number, listener: RequestListener = (_, outgoing) => outgoing.end()) {
  const clock = fakeClock();
  const log = captureLogger();
  const server = createServer(listener);
  limitConnections(server, clock, log, most);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ends.push(() => (server.closeAllConnections(), server.close()));
  const { port } = server.address() as AddressInfo;
  /** Resolves when the server has it. */
  const open = async (): Promise<Wire> => {
    const accepted = new Promise((resolve) => server.once("connection", resolve));
    const wire = new Wire({ port });
    await accepted;
    return wire;
  };
  return { open, clock, log };
}

const REQUEST = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

test("past the most, the connection that has been idle the longest goes, and the new one is served", async () => {
  const { open, log } = await started(2);
  const [first, second] = [await open(), await open()];
  const third = await open();
  expect(await first.closed).toBe("");
  third.write(REQUEST);
  expect(statusOf((await third.responses(1))[0]!)).toBe(200);
  second.write(REQUEST);
  expect(statusOf((await second.responses(1))[0]!)).toBe(200);
  expect(log.lines.map(({ level }) => level)).toEqual(["warn"]);
});

test("a client that was served keeps its connection; those that were never asked anything go before it", async () => {
  const { open } = await started(2);
  const served = await open();
  served.write(REQUEST);
  await served.responses(1);
  const silent = await open();
  await open();
  expect(await silent.closed).toBe("");
  served.write(REQUEST);
  expect(await served.responses(2)).toHaveLength(2);
});

test("one whose request is being answered stays, however old", async () => {
  let answer = () => {};
  const asked = Promise.withResolvers<void>();
  const { open } = await started(2, (_, outgoing) => {
    answer = () => outgoing.end();
    asked.resolve();
  });
  const busy = await open();
  busy.write(REQUEST);
  await asked.promise;
  const idle = await open();
  await open();
  expect(await idle.closed).toBe("");
  answer();
  expect(statusOf((await busy.responses(1))[0]!)).toBe(200);
});

test("one whose client does not read its answer is as good as idle", async () => {
  const answered = Promise.withResolvers<void>();
  const { open } = await started(2, (_, outgoing) => {
    outgoing.end("x".repeat(16 * 1_048_576));
    answered.resolve();
  });
  const unread = await open();
  unread.socket.pause();
  unread.write(REQUEST);
  await answered.promise;
  await open();
  const third = await open();
  unread.socket.resume();
  expect((await unread.closed).length).toBeLessThan(16 * 1_048_576);
  expect(third.socket.destroyed).toBe(false);
});

test("when all are busy the new one is refused", async () => {
  const asked = Promise.withResolvers<void>();
  const { open } = await started(1, () => asked.resolve());
  const busy = await open();
  busy.write(REQUEST);
  await asked.promise;
  expect(await (await open()).closed).toBe("");
});

test("a flood of them is one line a minute", async () => {
  const { open, clock, log } = await started(1);
  for (let count = 0; count < 20; count += 1) await open();
  expect(log.lines).toHaveLength(1);
  await clock.advance(60_000);
  await open();
  expect(log.lines).toHaveLength(2);
});

test("there are 16 384 at most, and fewer where the limit on open files is lower", () => {
  expect([Infinity, 1_048_576, 1_024, 256].map((descriptors) => mostConnections(descriptors))).toEqual([
    16_384, 16_384, 768, 128,
  ]);
});

describe("a connection that is kept", () => {
  /** Idle for 65 seconds and a little: each look is 5 seconds later. */
  const LOOKS = 14;

  async function kept(listener: RequestListener) {
    const server = createServer({ keepAliveTimeout: 0 }, listener);
    const idle = new IdleConnections(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    ends.push(() => (server.closeAllConnections(), server.close()));
    const wire = new Wire({ port: (server.address() as AddressInfo).port });
    return { wire, idle };
  }
  const answered: RequestListener = (_, outgoing) => outgoing.end();

  test("ends when it has sent nothing for 65 seconds, and not before", async () => {
    const { wire, idle } = await kept(answered);
    for (const count of [1, 2, 3]) {
      wire.write(REQUEST);
      await wire.responses(count);
      for (let look = 1; look < LOOKS; look += 1) idle.look();
    }
    expect(wire.socket.closed).toBe(false);
    idle.look();
    expect((await wire.closed).split("HTTP/1.1 200")).toHaveLength(4);
  });

  test("stays while it is answered, and before its first request, where Node's own limit holds", async () => {
    let answer = () => {};
    const asked = Promise.withResolvers<void>();
    const { wire, idle } = await kept((_, outgoing) => {
      answer = () => outgoing.end();
      asked.resolve();
    });
    for (let look = 0; look < 2 * LOOKS; look += 1) idle.look();
    wire.write(REQUEST);
    await asked.promise;
    for (let look = 0; look < 2 * LOOKS; look += 1) idle.look();
    answer();
    expect(await wire.responses(1)).toHaveLength(1);
  });

  test("is told for how long, as before", async () => {
    const harness = await new Harness().start();
    const { headers } = await call(harness, { path: "/health" });
    expect(headers).toMatchObject({ connection: "close" });
    const wire = new Wire(harness);
    wire.write("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
    expect((await wire.responses(1))[0]).toMatch(/\r\nConnection: keep-alive\r\nKeep-Alive: timeout=65\r\n/i);
    wire.socket.destroy();
  });
});
