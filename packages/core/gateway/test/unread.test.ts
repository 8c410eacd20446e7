// A client that asks and never reads held its connection, the answer and the kernel's buffers for as long as it liked.
import { describe, expect, test } from "vitest";
import { Harness, type HarnessOptions, route } from "./harness.ts";
import { post, statusOf, until, Wire } from "./http.ts";

const LARGE = "x".repeat(16 * 1_048_576);

async function started(options: HarnessOptions = {}) {
  const harness = new Harness();
  const token = harness.device();
  const large = route("GET", "/api/large", () => Promise.resolve({ status: 200, body: LARGE }));
  return { token, gateway: await harness.start({ routes: [large], ...options }) };
}

const get = (path: string, token: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`;

/** A connection whose client does not read the answer that was sent. */
async function stalled(gateway: Harness, token: string): Promise<Wire> {
  const wire = new Wire(gateway);
  wire.socket.pause();
  wire.write(get("/api/large", token));
  await until(() => gateway.clock.waiting === 1);
  return wire;
}

describe("an answer that is not read", () => {
  test("is given two minutes", async () => {
    const { gateway, token } = await started();
    const wire = await stalled(gateway, token);
    await gateway.clock.advance(119_999);
    expect(gateway.gateway.connections).toBe(1);
    await gateway.clock.advance(1);
    await until(() => gateway.gateway.connections === 0);
    wire.socket.resume();
    expect((await wire.closed).length).toBeLessThan(LARGE.length);
  });

  test("that is read in the end costs nobody anything", async () => {
    const { gateway, token } = await started();
    const wire = await stalled(gateway, token);
    let read = 0;
    wire.socket.removeAllListeners("data");
    wire.socket.on("data", (chunk) => (read += chunk.length));
    wire.socket.resume();
    await until(() => read > LARGE.length && gateway.clock.waiting === 0);
    await gateway.clock.advance(200_000);
    expect(gateway.gateway.connections).toBe(1);
    wire.socket.destroy();
  });

  test("has not begun to be late while it waits behind a turn", async () => {
    let finish = () => {};
    const { gateway, token } = await started({ run: () => new Promise((resolve) => (finish = () => resolve({}))) });
    const wire = new Wire(gateway);
    wire.write(
      `POST /webhook HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 16\r\n\r\n{"message":"hi"}' +
        get("/health", token),
    );
    await until(() => gateway.turns.length === 1);
    await gateway.clock.advance(3_600_000);
    finish();
    expect((await wire.responses(2)).map(statusOf)).toEqual([200, 200]);
    wire.socket.destroy();
  });
});

test("an answer that goes out whole sets no timer: the many pay nothing for the few", async () => {
  const { gateway, token } = await started();
  const timers: number[] = [];
  const { after } = gateway.clock;
  Object.assign(gateway.clock, { after: (ms: number, run: () => void) => (timers.push(ms), after(ms, run)) });
  for (let count = 0; count < 10; count += 1) expect((await post(gateway, token)).status).toBe(200);
  expect(timers).toEqual([]);
});
