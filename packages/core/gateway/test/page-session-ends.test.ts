// When a page's sign-in ends: what it has open must end with it, on disk too, and no clock, restart or full disk may keep it alive.
import { createHmac, hash } from "node:crypto";
import type { Device } from "@svc/store";
import { captureLogger } from "@svc/testkit/capture-logger";
import { fakeClock } from "@svc/testkit/fake-clock";
import { describe, expect, test } from "vitest";
import { MAX_PER_DEVICE, MAX_SIGN_INS, PageSessions } from "../src/auth/page-sessions.ts";
import { FakePageSessions } from "./fake-page-sessions.ts";
import { Harness, route } from "./harness.ts";
import { call, until } from "./http.ts";
import { askSignIn, type SignedIn, signIn, started, status } from "./sign-in.ts";

const DAY_MS = 86_400_000;

const BROWSER = { browser: "Firefox on Linux", isSecure: false };

/** As the gateway derives it. */
const csrfOf = (cookie: string): string => createHmac("sha256", cookie).update("svc page csrf").digest("base64url");

const signOut = (to: Harness, { headers }: SignedIn) => call(to, { method: "DELETE", path: "/api/session", headers });

/** The same home, after the process was gone for a while. */
async function restarted(before: Harness, goneMs = 0): Promise<Harness> {
  const after = new Harness();
  after.devices.push(...before.devices);
  after.pageSessions.rows = [...before.pageSessions.rows];
  after.clock.setWallClock(before.clock.now() + goneMs);
  return after.start();
}

describe("a sign-in ends", () => {
  test("with a sign-out: at once, on disk, with what it has going on, and nobody else's", async () => {
    let asked = 0;
    const slow = route("GET", "/api/slow", () => ((asked += 1), new Promise(() => {})));
    const { gateway, tokens } = await started({ routes: [slow] });
    const [page, other] = [await signIn(gateway, tokens.operator), await signIn(gateway, tokens.operator)];
    const waiting = call(gateway, { path: "/api/slow", headers: page.headers });
    const token = { authorization: `Bearer ${tokens.operator}` };
    const untouched = [other.headers, token].map((headers) => call(gateway, { path: "/api/slow", headers }));
    await until(() => asked === 3);
    const left = await signOut(gateway, page);
    expect([left.status, left.text, left.headers["set-cookie"]]).toEqual([
      204,
      "",
      ["svc_session=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0"],
    ]);
    expect(await waiting).toMatchObject({ status: 401, json: { error: "The page was signed out." } });
    expect([await status(gateway, page), await status(gateway, other)]).toEqual([401, 200]);
    expect(gateway.pageSessions.rows).toHaveLength(1);
    await gateway.gateway.devices.revoke("dev-operator");
    for (const answer of await Promise.all(untouched)) expect(answer.json.error).toBe("This device was revoked.");
  });

  test("with its device: all of them, at once, in memory and on disk", async () => {
    const { gateway, tokens } = await started();
    const pages = [await signIn(gateway, tokens.operator), await signIn(gateway, tokens.operator)];
    const reader = await signIn(gateway, tokens.read);
    const revoked = gateway.gateway.devices.revoke("dev-operator");
    for (const page of pages) expect(await status(gateway, page)).toBe(401);
    await revoked;
    expect(await status(gateway, reader)).toBe(200);
    expect(gateway.pageSessions.rows.map(({ deviceId }) => deviceId)).toEqual(["dev-read"]);
  });

  test("before it began when its device is revoked while it is stored", async () => {
    const { gateway, tokens } = await started();
    let write = () => {};
    gateway.pageSessions.slowAdd = new Promise((resolve) => (write = resolve));
    const answer = askSignIn(gateway, { authorization: `Bearer ${tokens.operator}` });
    await until(() => gateway.gateway.connections === 1);
    await call(gateway, { path: "/health" });
    await gateway.gateway.devices.revoke("dev-operator");
    write();
    expect((await answer).status).toBe(401);
    await until(() => gateway.pageSessions.rows.length === 0);
  });

  test("ninety days after its last request, to the minute, also when something is open on it", async () => {
    let asked = 0;
    const slow = route("GET", "/api/slow", () => ((asked += 1), new Promise(() => {})));
    const { gateway, tokens } = await started({ routes: [slow] });
    const [page, watching] = [await signIn(gateway, tokens.operator), await signIn(gateway, tokens.operator)];
    const waiting = call(gateway, { path: "/api/slow", headers: watching.headers });
    await until(() => asked === 1);
    for (let time = 0; time < 3; time += 1) {
      await gateway.clock.advance(90 * DAY_MS - 1);
      expect(await status(gateway, page)).toBe(200);
    }
    expect(await waiting).toMatchObject({ status: 401, json: { error: "The page was signed out." } });
    await gateway.clock.advance(90 * DAY_MS);
    expect([await status(gateway, page), gateway.pageSessions.rows]).toEqual([401, []]);
  });

  test("not with a restart, in which the time it was idle counts on", async () => {
    const { gateway, tokens } = await started();
    const page = await signIn(gateway, tokens.operator);
    const second = await restarted(gateway, 89 * DAY_MS);
    expect(await status(second, page)).toBe(200);
    expect(second.pageSessions.touched).toHaveLength(1);
    const third = await restarted(second, 90 * DAY_MS);
    expect(await status(third, page)).toBe(401);
    await until(() => third.pageSessions.rows.length === 0);
  });

  test("with a device that is gone after a restart", async () => {
    const { gateway, tokens } = await started();
    const page = await signIn(gateway, tokens.operator);
    gateway.devices.splice(0, 1);
    expect(await status(await restarted(gateway), page)).toBe(401);
  });

  test("when the disk refuses it, until a restart, and it is tried again", async () => {
    const { gateway, tokens } = await started();
    const page = await signIn(gateway, tokens.operator);
    gateway.pageSessions.fails = new Error("no room");
    const left = await signOut(gateway, page);
    expect([left.status, left.json.code]).toEqual([503, "STORE_FAILED"]);
    expect(await status(gateway, page)).toBe(401);
    await gateway.clock.advance(30_000);
    expect(gateway.pageSessions.rows).toHaveLength(1);
    gateway.pageSessions.fails = undefined;
    await gateway.clock.advance(30_000);
    expect([gateway.pageSessions.rows, gateway.clock.waiting]).toEqual([[], 0]);
  });

  test("when its device has twenty newer ones", async () => {
    const { gateway, tokens } = await started();
    const [used, oldest] = [await signIn(gateway, tokens.operator), await signIn(gateway, tokens.operator)];
    const reader = await signIn(gateway, tokens.read);
    await Promise.all(Array.from({ length: MAX_PER_DEVICE - 2 }, () => signIn(gateway, tokens.operator)));
    expect(await status(gateway, used)).toBe(200);
    await signIn(gateway, tokens.operator);
    expect([await status(gateway, used), await status(gateway, oldest)]).toEqual([200, 401]);
    expect([await status(gateway, reader), gateway.pageSessions.rows.length]).toEqual([200, MAX_PER_DEVICE + 1]);
  });
});

test("there are a thousand at most: the least recently seen goes, with its own device's or without", async () => {
  const harness = new Harness();
  const token = harness.device("operator");
  harness.device("read");
  const seenAtMs = harness.clock.now() - 1000;
  harness.pageSessions.rows = Array.from({ length: MAX_SIGN_INS }, (_, n) => ({
    id: `${n}`,
    idHash: hash("sha256", `${n}`, "hex"),
    deviceId: "dev-read",
    browser: "Browser",
    isSecure: false,
    createdAtMs: 0,
    seenAtMs: seenAtMs + n / 10,
  }));
  const gateway = await harness.start();
  const page = await signIn(gateway, token);
  const statusOf = (cookie: string) =>
    status(gateway, { headers: { cookie: `svc_session=${cookie}`, "x-svc-csrf": csrfOf(cookie) } });
  expect([await statusOf("0"), await statusOf("1"), await status(gateway, page)]).toEqual([401, 200, 200]);
  await until(() => gateway.pageSessions.rows.length === MAX_SIGN_INS);
});

describe("the clock", () => {
  test("set back, makes none immortal, over any number of starts", async () => {
    const { gateway, tokens } = await started();
    const page = await signIn(gateway, tokens.operator);
    gateway.clock.setWallClock(gateway.clock.now() - 9000 * DAY_MS);
    const second = await restarted(gateway, 0);
    await second.clock.advance(60 * DAY_MS);
    const third = await restarted(second, 0);
    await third.clock.advance(29 * DAY_MS);
    const fourth = await restarted(third, DAY_MS);
    expect(await status(fourth, page)).toBe(401);
  });

  test("set back while the gateway runs, does not stop the ninety days", async () => {
    const { gateway, tokens } = await started();
    const page = await signIn(gateway, tokens.operator);
    gateway.clock.setWallClock(gateway.clock.now() - 9000 * DAY_MS);
    await gateway.clock.advance(90 * DAY_MS);
    expect(await status(gateway, page)).toBe(401);
  });

  test("set back after a start, does not give back the days from before it", async () => {
    const { gateway, tokens } = await started();
    const page = await signIn(gateway, tokens.operator);
    const second = await restarted(gateway, 89 * DAY_MS);
    second.clock.setWallClock(gateway.clock.now());
    await second.clock.advance(DAY_MS);
    expect(await status(second, page)).toBe(401);
  });

  test("set forward, or a machine that slept, signs out", async () => {
    const { gateway, tokens } = await started();
    const page = await signIn(gateway, tokens.operator);
    gateway.clock.setWallClock(gateway.clock.now() + 90 * DAY_MS);
    expect(await status(gateway, page)).toBe(401);
  });
});

test("who stops leaves no timer, neither of those who are signed in nor of what the disk refused", async () => {
  const store = new FakePageSessions();
  const clock = fakeClock();
  const device = { id: "a" } as Device;
  const devices = { get: () => device, seen: () => device };
  const make = () =>
    new PageSessions({ store, devices, clock, log: captureLogger(), idleMs: () => DAY_MS, onEnd: () => {} });
  const sessions = make();
  const { cookie, csrf } = await sessions.open(device, BROWSER);
  await sessions.open(device, BROWSER);
  const found = sessions.find({ cookie, csrf });
  if (typeof found === "string") throw new Error(found);
  store.fails = new Error("no room");
  await expect(sessions.end(found.signIn)).rejects.toMatchObject({ code: "STORE_FAILED" });
  expect([clock.waiting, sessions.size]).toEqual([2, 1]);
  sessions.stop();
  expect(clock.waiting).toBe(0);
  store.fails = undefined;
  store.rows = [];
  const late = make();
  late.stop();
  await late.open(device, BROWSER);
  await sessions.open(device, BROWSER);
  expect(clock.waiting).toBe(0);
});
