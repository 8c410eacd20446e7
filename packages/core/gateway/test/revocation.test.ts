// What a revoked device has going on ends with it, at once: its turns, requests and streams; nobody else's.
import { describe, expect, test } from "vitest";
import { DeviceConnections } from "../src/auth/authenticator.ts";
import { route } from "./harness.ts";
import { call, post, statusOf, until, Wire } from "./http.ts";
import { started } from "./paired.ts";

const bytesOf = (token: string, body: string): string =>
  `POST /webhook HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n` +
  `Content-Type: application/json\r\nContent-Length: 16\r\n\r\n${body}`;

describe("what a revoked device has going on", () => {
  test("its turn is answered 401 at once, even one that takes its time to stop, and is told to stop", async () => {
    const stopped: unknown[] = [];
    const ends: (() => void)[] = [];
    const { gateway, tokens, revoke } = await started({
      run: ({ signal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => stopped.push(signal.reason));
          ends.push(() => resolve({}));
        }),
    });
    const wire = new Wire(gateway);
    wire.write(bytesOf(tokens.lost, '{"message":"hi"}'));
    await until(() => gateway.turns.length === 1);
    const other = post(gateway, tokens.operator);
    await until(() => gateway.turns.length === 2);
    expect((await revoke("dev-lost")).status).toBe(200);
    const text = await wire.closed;
    expect([statusOf(text), text.match(/HTTP\/1\.1/g)?.length]).toEqual([401, 1]);
    expect(text).toContain("This device was revoked.");
    expect(stopped).toEqual([expect.objectContaining({ code: "UNAUTHORIZED" })]);
    for (const end of ends) end();
    expect((await other).status).toBe(200);
  });

  test("a turn whose client has hung up is told to stop, too", async () => {
    let isStopped = false;
    const { gateway, tokens, revoke } = await started({
      run: ({ signal }) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => ((isStopped = true), reject(signal.reason))),
        ),
    });
    const wire = new Wire(gateway);
    wire.write(bytesOf(tokens.lost, '{"message":"hi"}'));
    await until(() => gateway.turns.length === 1);
    wire.socket.destroy();
    await until(() => gateway.gateway.connections === 0);
    await revoke("dev-lost");
    expect(isStopped).toBe(true);
  });

  test("a message that is half here gets no turn", async () => {
    const { gateway, tokens, revoke } = await started();
    const wire = new Wire(gateway);
    wire.write(bytesOf(tokens.lost, '{"mess'));
    await until(() => gateway.gateway.connections === 1);
    // Once this is answered, what was written before it has been read.
    await call(gateway, { path: "/health" });
    await revoke("dev-lost");
    wire.write('age":"hi"}');
    expect(statusOf((await wire.responses(1))[0]!)).toBe(401);
    await gateway.clock.advance(2_000);
    await wire.closed;
    expect(gateway.turns).toHaveLength(0);
  });

  test("an answer that is under way ends where it is", async () => {
    const body = "x".repeat(16 * 1_048_576);
    const { gateway, tokens, revoke } = await started({
      routes: [route("GET", "/api/large", () => Promise.resolve({ status: 200, body }))],
    });
    const wire = new Wire(gateway);
    wire.socket.pause();
    wire.write(`GET /api/large HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${tokens.lost}\r\n\r\n`);
    // The gateway has begun to wait for it to be read.
    await until(() => gateway.clock.waiting === 1);
    await revoke("dev-lost");
    await until(() => gateway.gateway.connections === 0);
    wire.socket.resume();
    expect((await wire.closed).length).toBeLessThan(body.length);
  });

  test("a request to a feature is answered 401, and the feature is told that nobody waits any more", async () => {
    let isGone = false;
    let isAsked = false;
    const slow = route("POST", "/api/slow", ({ signal }) => {
      isAsked = true;
      return new Promise((_resolve, reject) =>
        signal.addEventListener("abort", () => ((isGone = true), reject(signal.reason))),
      );
    });
    const { gateway, tokens, as, revoke } = await started({ routes: [slow] });
    const answer = call(gateway, { method: "POST", path: "/api/slow", headers: as(tokens.lost) });
    await until(() => isAsked);
    await revoke("dev-lost");
    expect((await answer).status).toBe(401);
    await until(() => isGone);
  });

  test("a connection that it used before, and somebody else uses now, stays", async () => {
    const { gateway, tokens, revoke } = await started();
    const wire = new Wire(gateway);
    wire.write(bytesOf(tokens.lost, '{"message":"hi"}'));
    await wire.responses(1);
    await revoke("dev-lost");
    wire.write(bytesOf(tokens.operator, '{"message":"hi"}'));
    wire.write(bytesOf(tokens.lost, '{"message":"hi"}'));
    expect((await wire.responses(3)).map(statusOf)).toEqual([200, 200, 401]);
    wire.socket.destroy();
  });

  test("two hundred requests while it is revoked: each is answered 200 or 401, and none after it with 200", async () => {
    const { gateway, tokens, revoke } = await started();
    const answers = Array.from({ length: 200 }, (_, index) => {
      const answer = post(gateway, tokens.lost);
      if (index === 100) void revoke("dev-lost");
      return answer;
    });
    expect((await Promise.all(answers)).filter(({ status }) => status !== 200 && status !== 401)).toEqual([]);
    expect((await post(gateway, tokens.lost)).status).toBe(401);
  });
});

describe("streams", () => {
  const [one, other] = [{ device: { id: "a" } }, { device: { id: "b" } }];

  test("are closed once, those of that device alone, and one that fails to close saves no other", () => {
    const connections = new DeviceConnections();
    const closed: string[] = [];
    const ended = connections.open(one, () => closed.push("a1"));
    connections.open(one, () => {
      closed.push("a2");
      throw new Error("gone already");
    });
    connections.open(one, () => closed.push("a3"));
    connections.open(other, () => closed.push("b"));
    ended();
    expect([connections.count("a"), connections.count()]).toEqual([2, 3]);
    connections.closeAll("a");
    connections.closeAll("a");
    ended();
    expect(closed).toEqual(["a2", "a3"]);
    expect([connections.count("a"), connections.count("b")]).toEqual([0, 1]);
  });

  test("of a device that was revoked a moment ago, or is being, are closed as they are opened", () => {
    const connections = new DeviceConnections();
    const late: string[] = [];
    connections.open(one, () => connections.open(one, () => late.push("meanwhile")));
    connections.closeAll("a");
    connections.open(one, () => late.push("after"))();
    expect([late, connections.count()]).toEqual([["meanwhile", "after"], 0]);
  });

  test("of a page that was signed out are closed once, those of its device stay; a late one is closed as it is opened", () => {
    const connections = new DeviceConnections();
    const closed: string[] = [];
    const signIn = { id: "s", idHash: "x", deviceId: "a", isEnded: false };
    connections.open({ ...one, signIn }, (why) => {
      closed.push(`page ${why}`);
      throw new Error("gone already");
    });
    connections.open({ ...one, signIn }, (why) => closed.push(`page too ${why}`));
    connections.open(one, (why) => closed.push(`token ${why}`));
    signIn.isEnded = true;
    connections.closeOf(signIn);
    connections.open({ ...one, signIn }, (why) => closed.push(`late ${why}`))();
    expect([closed, connections.count("a")]).toEqual([
      ["page signed-out", "page too signed-out", "late signed-out"],
      1,
    ]);
    connections.closeAll("a");
    expect(closed.slice(3)).toEqual(["token revoked"]);
  });

  test("leave nothing behind when requests end", async () => {
    const { gateway, tokens } = await started();
    for (let count = 0; count < 3; count += 1) await post(gateway, tokens.operator);
    // What is left open would be closed with the device: a 401 to whoever uses that connection then.
    await until(() => gateway.gateway.connections === 0);
    await gateway.gateway.devices.revoke("dev-operator");
    expect((await post(gateway, tokens.lost)).status).toBe(200);
  });
});
