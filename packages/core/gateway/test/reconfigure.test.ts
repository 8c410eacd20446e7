// A reload of the gateway's settings: all of them or none, from one request to the next, and nothing that protects is forgotten.
import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { checkRebind } from "../src/http/connections.ts";
import { SlidingWindow } from "../src/client.ts";
import { Harness, type HarnessOptions, route } from "./harness.ts";
import { call, post, statusOf, tick, until, Wire } from "./http.ts";

const BAD = `svc_${"0".repeat(64)}`;

async function started(options: HarnessOptions = {}) {
  const harness = new Harness();
  const token = harness.device();
  const gateway = await harness.start(options);
  return { gateway, token, headers: { authorization: `Bearer ${token}` } };
}

function signed(gateway: Harness, key: string, id: string): Record<string, string> {
  const timestamp = String(Math.floor(gateway.clock.now() / 1000));
  const mac = createHmac("sha256", key).update(`${id}.${timestamp}.{"message":"hi"}`).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${mac}` };
}

describe("from the next request on", () => {
  test("the new secret opens and the old one does not", async () => {
    const { gateway, token } = await started({ webhook: { secret: "old" } });
    const ask = async (secret: string) =>
      (await post(gateway, token, undefined, { "x-webhook-secret": secret })).status;
    expect([await ask("old"), await ask("new")]).toEqual([200, 401]);
    gateway.reconfigure({ webhook: { secret: "new" } });
    expect([await ask("old"), await ask("new")]).toEqual([401, 200]);
    gateway.reconfigure({ webhook: { secret: undefined } });
    expect((await post(gateway, token)).status).toBe(200);
  });

  test("on a connection that is open already, too", async () => {
    const { gateway, token } = await started({ webhook: { secret: "old" } });
    const wire = new Wire(gateway);
    const request =
      `POST /webhook HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nX-Webhook-Secret: old\r\n` +
      'Content-Type: application/json\r\nContent-Length: 16\r\n\r\n{"message":"hi"}';
    wire.write(request);
    await wire.responses(1);
    gateway.reconfigure({ webhook: { secret: "new" } });
    wire.write(request);
    expect((await wire.responses(2)).map(statusOf)).toEqual([200, 401]);
    wire.socket.destroy();
  });

  test("a new signing secret is demanded, and an id seen under the old one stays seen", async () => {
    const { gateway, token } = await started({ webhook: { signing_secret: "old-key" } });
    const ask = async (key: string, id: string) =>
      (await post(gateway, token, undefined, signed(gateway, key, id))).status;
    expect(await ask("old-key", "one")).toBe(200);
    gateway.reconfigure({ webhook: { signing_secret: "new-key" } });
    // What the store remembers must not be why: the ids that the gateway has seen must outlive the reload.
    gateway.claimed.clear();
    expect([await ask("old-key", "two"), await ask("new-key", "one"), await ask("new-key", "two")]).toEqual([
      401, 401, 200,
    ]);
  });

  test("hosts, origins, body limit, pairing and the agent are as configured now", async () => {
    const { gateway, token, headers } = await started();
    const host = { host: "svc.example.org", origin: "https://svc.example.org" };
    expect((await call(gateway, { path: "/api/status", headers: { ...headers, ...host } })).json.code).toBe("BAD_HOST");
    gateway.reconfigure({
      config: { public_url: "https://svc.example.org", max_body_bytes: 20, require_pairing: false },
      webhook: { agent: "support" },
    });
    expect((await call(gateway, { path: "/api/status", headers: { ...headers, ...host } })).status).toBe(200);
    expect((await post(gateway, token, { message: "x".repeat(20) })).status).toBe(413);
    expect((await post(gateway, undefined)).status).toBe(200);
    expect(gateway.turns.at(-1)?.agent).toBe("support");
    expect(gateway.log.text()).toContain("takes messages from every program on this machine");
  });

  test("forwarding headers are trusted, or no longer, and only from whom they are trusted", async () => {
    const { gateway } = await started();
    const bad = (from: string) =>
      call(gateway, { path: "/api/status", headers: { authorization: `Bearer ${BAD}`, "x-forwarded-for": from } });
    gateway.reconfigure({ config: { trust_forwarded_headers: true } });
    for (let count = 0; count < 10; count += 1) await bad("203.0.113.5");
    expect((await bad("203.0.113.5")).status).toBe(429);
    gateway.reconfigure({ config: { trusted_proxies: ["10.0.0.0/8"] } });
    expect((await bad("203.0.113.5")).status).toBe(401);
    gateway.reconfigure({ config: { trusted_proxies: ["127.0.0.1"] } });
    expect((await bad("203.0.113.5")).status).toBe(429);
  });

  test("the routes of features are the new ones, and /openapi.json tells of them", async () => {
    const { gateway, headers } = await started({ routes: [route("GET", "/api/old")] });
    const status = async (path: string) => (await call(gateway, { path, headers })).status;
    const paths = async () => Object.keys((await call(gateway, { path: "/openapi.json" })).json.paths);
    expect([await status("/api/old"), await status("/api/new")]).toEqual([200, 404]);
    expect(await paths()).toContain("/api/old");
    gateway.reconfigure({ routes: [route("GET", "/api/new")] });
    expect([await status("/api/old"), await status("/api/new")]).toEqual([404, 200]);
    expect(await paths()).not.toContain("/api/old");
    expect(await paths()).toContain("/api/new");
  });
});

describe("is refused whole", () => {
  test.each<[string, HarnessOptions, string]>([
    [
      "a malformed proxy block",
      { config: { trusted_proxies: ["10.0.0.0/99"], trust_forwarded_headers: true } },
      "CONFIG_INVALID",
    ],
    ["a malformed signing secret", { webhook: { signing_secret: "whsec_***" } }, "CONFIG_INVALID"],
    ["a feature's route on core's path", { routes: [route("GET", "/api/devices")] }, "FEATURE_CONFLICT"],
    ["a public address without permission", { config: { host: "0.0.0.0" } }, "PUBLIC_BIND"],
    [
      "a public address without pairing",
      { config: { host: "0.0.0.0", allow_public_bind: true, require_pairing: false } },
      "PUBLIC_BIND",
    ],
  ])("%s, and everything stays as it was", async (_name, wrong, code) => {
    const { gateway, token } = await started({
      webhook: { secret: "old" },
      config: { webhook_rate_limit_per_minute: 4 },
    });
    const ask = async (secret: string) =>
      (await post(gateway, token, undefined, { "x-webhook-secret": secret })).status;
    const all = {
      ...wrong,
      config: { ...wrong.config, webhook_rate_limit_per_minute: 1000 },
      webhook: { secret: "new", ...wrong.webhook },
    };
    let thrown: unknown;
    try {
      gateway.reconfigure(all);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code });
    expect([await ask("new"), await ask("old"), await ask("old"), await ask("old"), await ask("old")]).toEqual([
      401, 200, 200, 200, 429,
    ]);
  });

  test("pairing off while the socket is bound to the world, whatever the new host says", () => {
    const lifted = { host: "127.0.0.1", allow_public_bind: false, require_pairing: false };
    expect(() => checkRebind(lifted, "0.0.0.0")).toThrow(/still listens on a public address/);
    expect(() => checkRebind(lifted, "127.0.0.1")).not.toThrow();
    expect(() => checkRebind({ ...lifted, require_pairing: true }, "0.0.0.0")).not.toThrow();
  });
});

describe("what has begun", () => {
  test("ends with the settings it began with: a turn, and a request whose body was still to come", async () => {
    let finish = () => {};
    const { gateway, token } = await started({
      webhook: { secret: "old", agent: "first" },
      run: () => new Promise((resolve) => (finish = () => resolve({ response: "done" }))),
    });
    const turn = post(gateway, token, undefined, { "x-webhook-secret": "old" });
    await until(() => gateway.turns.length === 1);
    const half = new Wire(gateway);
    half.write(
      `POST /webhook HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nX-Webhook-Secret: old\r\n` +
        'Content-Type: application/json\r\nContent-Length: 16\r\n\r\n{"mess',
    );
    await until(() => gateway.gateway.connections === 2);
    // Once this is answered, what was written before it has been read.
    await call(gateway, { path: "/health" });
    gateway.reconfigure({ webhook: { secret: "new", agent: "second" }, config: { max_body_bytes: 1024 } });
    finish();
    expect((await turn).json.response).toBe("done");
    half.write('age":"hi"}');
    await until(() => gateway.turns.length === 2);
    finish();
    expect(statusOf((await half.responses(1))[0]!)).toBe(200);
    expect(gateway.turns.map(({ agent }) => agent)).toEqual(["first", "first"]);
    half.socket.destroy();
  });

  test("on a route of a feature is told of, so that the feature is not taken down under it", async () => {
    const answered = Promise.withResolvers<{ status: number; body: string }>();
    let isAsked = false;
    const slow = route("POST", "/api/slow", () => ((isAsked = true), answered.promise));
    const { gateway, headers } = await started({ routes: [slow] });
    const answer = call(gateway, { method: "POST", path: "/api/slow", headers });
    await until(() => isAsked);
    const before = gateway.reconfigure({ routes: [] });
    let isIdle = false;
    const idle = before.idle().then(() => (isIdle = true));
    await tick();
    expect(isIdle).toBe(false);
    expect((await call(gateway, { method: "POST", path: "/api/slow", headers })).status).toBe(404);
    answered.resolve({ status: 200, body: "old" });
    await idle;
    expect((await answer).json).toBe("old");
    await gateway.reconfigure({}).idle();
  });
});

describe("what protects is not forgotten", () => {
  test("slots that are taken, when another key changes and when the limit itself does", async () => {
    const { gateway, token } = await started({ config: { webhook_rate_limit_per_minute: 3 } });
    for (let count = 0; count < 3; count += 1) expect((await post(gateway, token)).status).toBe(200);
    gateway.reconfigure({ webhook: { agent: "other" } });
    expect((await post(gateway, token)).status).toBe(429);
    gateway.reconfigure({ config: { webhook_rate_limit_per_minute: 4 } });
    expect([(await post(gateway, token)).status, (await post(gateway, token)).status]).toEqual([200, 429]);
    gateway.reconfigure({ config: { webhook_rate_limit_per_minute: 2 } });
    expect((await post(gateway, token)).json.retry_after).toBe(60);
    await gateway.clock.advance(60_000);
    expect((await post(gateway, token)).status).toBe(200);
  });

  test("lockouts, pairing codes and wrong tries at them", async () => {
    const { gateway, token } = await started({ config: { trust_forwarded_headers: true } });
    const attacker = { "x-forwarded-for": "203.0.113.5" };
    const { code } = gateway.gateway.pairing.issueCode({ scope: "read" });
    const pair = (presented: string, from = {}) =>
      call(gateway, { method: "POST", path: "/pair", headers: { "x-pairing-code": presented, ...from } });
    for (let count = 0; count < 10; count += 1) await post(gateway, BAD, undefined, attacker);
    for (let count = 0; count < 4; count += 1) await pair(code === "000000" ? "000001" : "000000", attacker);
    gateway.reconfigure({ config: { max_body_bytes: 2048 }, webhook: { secret: "s" } });
    expect((await post(gateway, token, undefined, attacker)).json.code).toBe("LOCKED_OUT");
    await pair(code === "000000" ? "000001" : "000000", attacker);
    expect((await pair(code, attacker)).json.code).toBe("LOCKED_OUT");
    expect((await pair(code)).status).toBe(200);
  });

  test("devices, and the connections that are open", async () => {
    const { gateway, headers } = await started();
    const wire = new Wire(gateway);
    await until(() => gateway.gateway.connections === 1);
    gateway.reconfigure({ config: { max_body_bytes: 2048 } });
    wire.write(`GET /api/status HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${headers.authorization}\r\n\r\n`);
    expect(statusOf((await wire.responses(1))[0]!)).toBe(200);
    wire.socket.destroy();
  });
});

test("a reload at every moment of two hundred requests: each is answered by the one or the other, none by neither", async () => {
  const { gateway, token } = await started({ webhook: { secret: "a" }, config: { webhook_rate_limit_per_minute: 0 } });
  const answers = Array.from({ length: 200 }, (_, index) => {
    if (index % 5 === 0) gateway.reconfigure({ webhook: { secret: index % 2 === 0 ? "b" : "a" } });
    return post(gateway, token, undefined, { "x-webhook-secret": index % 3 === 0 ? "a" : "b" });
  });
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200, 401]));
  expect(gateway.turns).toHaveLength(statuses.filter((status) => status === 200).length);
});

test("pairing is asked for as configured now", async () => {
  const gateway = await new Harness().start();
  gateway.reconfigure({ config: { require_pairing: false } });
  expect(gateway.gateway.pairing.initialCode()).toBeUndefined();
  gateway.reconfigure({ config: { require_pairing: true } });
  expect(gateway.gateway.pairing.initialCode()).toBeDefined();
});

test("a limiter that is told of fewer keys forgets the least recent ones, and one that is turned off remembers nothing", () => {
  const window = new SlidingWindow({ limit: 1, windowMs: 1000, maxKeys: 3 });
  for (const key of ["a", "b", "c"]) window.take(key, 0);
  window.configure({ limit: 1, maxKeys: 2 });
  expect(window.keys()).toEqual(["b", "c"]);
  window.configure({ limit: 0, maxKeys: 2 });
  expect(window.keys()).toEqual([]);
});
