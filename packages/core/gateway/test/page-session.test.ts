// Signing in to the page: what a browser is handed, what of it opens anything, for how long, and what ends it.
import { hash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { MAX_PER_DEVICE, MAX_SIGN_INS } from "../src/auth/page-sessions.ts";
import { Harness, type HarnessOptions, route } from "./harness.ts";
import { call, until } from "./http.ts";
import { askSignIn, originOf, signedIn, type SignedIn, signIn } from "./sign-in.ts";

const HOUR_MS = 3_600_000;

async function started(options: HarnessOptions = {}) {
  const harness = new Harness();
  const tokens = {
    operator: harness.device("operator"),
    read: harness.device("read"),
    webhook: harness.device("webhook"),
  };
  return { gateway: await harness.start(options), tokens };
}

const status = async (to: Harness, { headers }: Pick<SignedIn, "headers">, path = "/api/tools") =>
  (await call(to, { path, headers })).status;
const signOut = (to: Harness, { headers }: SignedIn) => call(to, { method: "DELETE", path: "/api/session", headers });
const codeOf = ({ gateway }: Harness, scope: "operator" | "webhook" | "read" = "operator", name?: string) =>
  gateway.pairing.issueCode({ scope, name }).code;

/** The same home, after the process was gone for a while. */
async function restarted(before: Harness, goneMs = 0): Promise<Harness> {
  const after = new Harness();
  after.devices.push(...before.devices);
  after.pageSessions.rows = [...before.pageSessions.rows];
  after.clock.setWallClock(before.clock.now() + goneMs);
  return after.start();
}

describe("with a token", () => {
  test("a page is told who it is; the browser gets a cookie that no script and no other site can use", async () => {
    const { gateway, tokens } = await started();
    const { answer, cookie, csrf } = await signIn(gateway, tokens.operator);
    expect(answer.json).toEqual({ csrf, device: { id: "dev-operator", name: "operator", scope: "operator" } });
    expect(answer.headers["set-cookie"]).toEqual([
      `svc_session=${cookie}; HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000`,
    ]);
    expect(answer.headers["cache-control"]).toBe("no-store");
    for (const secret of [cookie, csrf]) expect(Buffer.from(secret, "base64url")).toHaveLength(32);
  });

  test("only hashes are kept, and nothing is logged", async () => {
    const { gateway, tokens } = await started();
    const { cookie, csrf } = await signIn(gateway, tokens.operator);
    const row = { idHash: hash("sha256", cookie, "hex"), csrfHash: hash("sha256", csrf, "hex") };
    expect(gateway.pageSessions.rows).toMatchObject([{ ...row, deviceId: "dev-operator" }]);
    const kept = JSON.stringify(gateway.pageSessions.rows) + gateway.log.text();
    expect([kept.includes(cookie), kept.includes(csrf)]).toEqual([false, false]);
  });

  test("the cookie is Secure where the page came by https", async () => {
    const { gateway, tokens } = await started({ config: { public_url: "https://svc.example.org" } });
    const { answer } = await signIn(gateway, tokens.operator, { origin: "https://svc.example.org" });
    expect(answer.headers["set-cookie"]).toEqual([expect.stringMatching(/; Secure$/)]);
  });

  test("the page may what its token may", async () => {
    const { gateway, tokens } = await started();
    const reader = await signIn(gateway, tokens.read);
    expect([await status(gateway, reader), await status(gateway, reader, "/api/devices")]).toEqual([200, 403]);
    const refused = await askSignIn(gateway, { authorization: `Bearer ${tokens.webhook}` });
    expect([refused.status, refused.json.code, refused.headers["set-cookie"]]).toEqual([
      403,
      "FORBIDDEN_SCOPE",
      undefined,
    ]);
  });

  test("it is its device: /health tells it all, a new name is its name, and it is marked in the list", async () => {
    const { gateway, tokens } = await started();
    const page = await signIn(gateway, tokens.operator);
    await gateway.gateway.devices.rename("dev-operator", "desk");
    const ask = async (path: string) => (await call(gateway, { path, headers: page.headers })).json;
    expect(await ask("/api/session")).toEqual({ device: { id: "dev-operator", name: "desk", scope: "operator" } });
    expect(await ask("/health")).toMatchObject({ units: [] });
    expect((await ask("/api/devices")).devices.filter((one: { current: boolean }) => one.current)).toMatchObject([
      { id: "dev-operator" },
    ]);
  });

  test("it opens no path that programs call", async () => {
    const { gateway, tokens } = await started();
    const { headers } = await signIn(gateway, tokens.operator);
    const json = { "content-type": "application/json" };
    const body = '{"message":"hi"}';
    const posted = await call(gateway, { method: "POST", path: "/webhook", headers: { ...headers, ...json }, body });
    expect([posted.status, gateway.turns.length]).toEqual([401, 0]);
  });
});

describe("with a pairing code", () => {
  test("the browser becomes a device, called after itself", async () => {
    const { gateway } = await started();
    const userAgent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
    const page = signedIn(await askSignIn(gateway, { "x-pairing-code": codeOf(gateway), "user-agent": userAgent }));
    expect(page.answer.json.device).toMatchObject({ name: "Firefox on Linux", scope: "operator" });
    expect([await status(gateway, page), gateway.devices.length]).toEqual([200, 4]);
  });

  test("its owner's word goes before that, and the operator's before both", async () => {
    const { gateway } = await started();
    const named = async (name?: string) => {
      const code = { "x-pairing-code": codeOf(gateway, "read", name) };
      return (await askSignIn(gateway, code, '{"device_name":"kitchen"}')).json.device.name;
    };
    expect([await named(), await named("wall")]).toEqual(["kitchen", "wall"]);
  });

  test("a code for programs signs nobody in, and is still good for a program", async () => {
    const { gateway } = await started();
    const code = { "x-pairing-code": codeOf(gateway, "webhook") };
    const refused = await askSignIn(gateway, code);
    expect([refused.status, refused.json.code, gateway.devices.length]).toEqual([403, "FORBIDDEN_SCOPE", 3]);
    expect((await call(gateway, { method: "POST", path: "/pair", headers: code })).status).toBe(200);
  });

  test("a sign-in that can't be stored leaves no device behind that nobody has a token of", async () => {
    const { gateway } = await started();
    gateway.pageSessions.fails = new Error("no room");
    const failed = await askSignIn(gateway, { "x-pairing-code": codeOf(gateway) });
    expect([failed.status, failed.headers["set-cookie"], gateway.devices.length]).toEqual([500, undefined, 3]);
  });

  test.each(["{", "[]", '{"device_name":" "}'])("the body %s is refused, and the code stays good", async (body) => {
    const { gateway } = await started();
    const code = { "x-pairing-code": codeOf(gateway) };
    expect((await askSignIn(gateway, code, body)).status).toBe(400);
    expect((await askSignIn(gateway, code)).status).toBe(200);
  });
});

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

  test("twelve hours after its last request, to the minute, also when something is open on it", async () => {
    let asked = 0;
    const slow = route("GET", "/api/slow", () => ((asked += 1), new Promise(() => {})));
    const { gateway, tokens } = await started({ routes: [slow] });
    const [page, watching] = [await signIn(gateway, tokens.operator), await signIn(gateway, tokens.operator)];
    const waiting = call(gateway, { path: "/api/slow", headers: watching.headers });
    await until(() => asked === 1);
    for (let day = 0; day < 3; day += 1) {
      await gateway.clock.advance(12 * HOUR_MS - 1);
      expect(await status(gateway, page)).toBe(200);
    }
    expect(await waiting).toMatchObject({ status: 401, json: { error: "The page was signed out." } });
    await gateway.clock.advance(12 * HOUR_MS);
    expect([await status(gateway, page), gateway.pageSessions.rows]).toEqual([401, []]);
  });

  test("not with a restart, in which the time it was idle counts on", async () => {
    const { gateway, tokens } = await started();
    const page = await signIn(gateway, tokens.operator);
    const second = await restarted(gateway, 11 * HOUR_MS);
    expect(await status(second, page)).toBe(200);
    expect(second.pageSessions.touched).toHaveLength(1);
    const third = await restarted(second, 12 * HOUR_MS);
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
    idHash: hash("sha256", `${n}`, "hex"),
    csrfHash: hash("sha256", "csrf", "hex"),
    deviceId: "dev-read",
    createdAtMs: 0,
    seenAtMs: seenAtMs + n / 10,
  }));
  const gateway = await harness.start();
  const page = await signIn(gateway, token);
  const statusOf = (cookie: string) =>
    status(gateway, { headers: { cookie: `svc_session=${cookie}`, "x-svc-csrf": "csrf" } });
  expect([await statusOf("0"), await statusOf("1"), await status(gateway, page)]).toEqual([401, 200, 200]);
  await until(() => gateway.pageSessions.rows.length === MAX_SIGN_INS);
});

describe("the clock", () => {
  test("set back, makes none immortal, over any number of starts", async () => {
    const { gateway, tokens } = await started();
    const page = await signIn(gateway, tokens.operator);
    gateway.clock.setWallClock(gateway.clock.now() - 1000 * HOUR_MS);
    const second = await restarted(gateway, 0);
    await second.clock.advance(6 * HOUR_MS);
    const third = await restarted(second, 0);
    await third.clock.advance(5 * HOUR_MS);
    const fourth = await restarted(third, HOUR_MS);
    expect(await status(fourth, page)).toBe(401);
  });

  test("set back while the gateway runs, does not stop the twelve hours", async () => {
    const { gateway, tokens } = await started();
    const page = await signIn(gateway, tokens.operator);
    gateway.clock.setWallClock(gateway.clock.now() - 1000 * HOUR_MS);
    await gateway.clock.advance(12 * HOUR_MS);
    expect(await status(gateway, page)).toBe(401);
  });

  test("set forward, or a machine that slept, signs out", async () => {
    const { gateway, tokens } = await started();
    const page = await signIn(gateway, tokens.operator);
    gateway.clock.setWallClock(gateway.clock.now() + 12 * HOUR_MS);
    expect(await status(gateway, page)).toBe(401);
  });
});

test("a gateway that closes leaves no timer, and the origin of another port is no page of ours", async () => {
  const { gateway, tokens } = await started();
  await signIn(gateway, tokens.operator);
  expect(gateway.clock.waiting).toBe(1);
  const elsewhere = { authorization: `Bearer ${tokens.operator}`, origin: originOf({ port: gateway.port + 1 }) };
  expect((await askSignIn(gateway, elsewhere)).json.code).toBe("BAD_ORIGIN");
  const closed = gateway.gateway.close(0);
  for (let step = 0; step < 3; step += 1) await gateway.clock.advance(60_000);
  await closed;
  expect(gateway.clock.waiting).toBe(0);
});
