// Bearer tokens: who is let in, where to, and that guessing locks out the guesser and nobody else.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bearerToken, mintToken } from "../src/auth/authenticator.ts";
import { Harness, route } from "./harness.ts";
import { call, post } from "./http.ts";

const BAD = `svc_${"0".repeat(64)}`;

async function started() {
  const harness = new Harness();
  const tokens = {
    operator: harness.device("operator"),
    webhook: harness.device("webhook"),
    read: harness.device("read"),
  };
  const gateway = await harness.start({
    config: { trust_forwarded_headers: true, webhook_rate_limit_per_minute: 0 },
    routes: [
      route("GET", "/api/plugins"),
      route("POST", "/api/plugins", () => Promise.resolve({ status: 201, body: {} })),
    ],
  });
  return { gateway, tokens };
}

describe("scopes", () => {
  test.each([
    ["operator", 200, 200, 201],
    ["webhook", 200, 403, 403],
    ["read", 403, 200, 403],
  ] as const)("%s: webhook %i, reading %i, changing %i", async (scope, webhook, reading, changing) => {
    const { gateway, tokens } = await started();
    const headers = { authorization: `Bearer ${tokens[scope]}` };
    const posted = await post(gateway, tokens[scope]);
    expect(posted.status).toBe(webhook);
    expect(posted.json.code).toBe(webhook === 403 ? "FORBIDDEN_SCOPE" : undefined);
    for (const path of ["/api/status", "/api/sessions", "/api/tools", "/api/features", "/api/plugins"]) {
      expect((await call(gateway, { path, headers })).status).toBe(reading);
    }
    expect((await call(gateway, { method: "POST", path: "/api/plugins", headers })).status).toBe(changing);
  });
});

describe("the header", () => {
  test.each([
    ["", 401],
    ["Bearer", 401],
    ["Bearer ", 401],
    [`Basic ${"a".repeat(68)}`, 401],
    [`Bearer ${BAD}`, 401],
    [BAD, 401],
  ])("%j → %i", async (authorization, status) => {
    const { gateway } = await started();
    const answer = await call(gateway, { path: "/api/status", headers: { authorization } });
    expect([answer.status, answer.json.code]).toEqual([status, "UNAUTHORIZED"]);
    expect(answer.headers["www-authenticate"]).toBe("Bearer");
  });

  test("the scheme's case does not matter, the token's does", async () => {
    const { gateway, tokens } = await started();
    const status = async (authorization: string) =>
      (await call(gateway, { path: "/api/status", headers: { authorization } })).status;
    expect(await status(`bEaReR ${tokens.read}`)).toBe(200);
    expect(await status(`Bearer ${tokens.read.toUpperCase()}`)).toBe(401);
    expect(await status(`Bearer ${tokens.read}0`)).toBe(401);
  });

  test("only a well-formed token is ever looked up, whatever the header", () => {
    fc.assert(fc.property(fc.string(), (text) => bearerToken(text) === undefined));
    fc.assert(
      fc.property(fc.constantFrom("Bearer ", "bearer  ", "BEARER "), (scheme) => {
        const token = mintToken();
        expect(bearerToken(scheme + token)).toBe(token);
        expect(bearerToken(`${scheme}${token} x`)).toBeUndefined();
      }),
    );
  });
});

describe("guessing", () => {
  test("ten bad bearers lock out that client everywhere, for the right one too, and nobody else", async () => {
    const { gateway, tokens } = await started();
    const attacker = { "x-forwarded-for": "203.0.113.5" };
    for (let count = 0; count < 10; count += 1) {
      expect((await post(gateway, BAD, undefined, attacker)).status).toBe(401);
    }
    const locked = await post(gateway, tokens.operator, undefined, attacker);
    expect([locked.status, locked.json.code, locked.json.retry_after]).toEqual([429, "LOCKED_OUT", 300]);
    const headers = { authorization: `Bearer ${tokens.read}` };
    expect((await call(gateway, { path: "/api/status", headers: { ...headers, ...attacker } })).status).toBe(429);
    const neighbour = { "x-forwarded-for": "203.0.113.6" };
    expect((await post(gateway, tokens.operator, undefined, neighbour)).status).toBe(200);
    expect((await post(gateway, tokens.operator)).status).toBe(200);
    await gateway.clock.advance(300_000);
    expect((await post(gateway, tokens.operator, undefined, attacker)).status).toBe(200);
  });

  test("nine in a minute do not, nor do ten over more than a minute", async () => {
    const { gateway, tokens } = await started();
    const from = { "x-forwarded-for": "203.0.113.5" };
    for (let count = 0; count < 9; count += 1) await post(gateway, BAD, undefined, from);
    expect((await post(gateway, tokens.operator, undefined, from)).status).toBe(200);
    await gateway.clock.advance(60_000);
    await post(gateway, BAD, undefined, from);
    expect((await post(gateway, tokens.operator, undefined, from)).status).toBe(200);
  });

  test("requests without a token are no guesses", async () => {
    const { gateway, tokens } = await started();
    const from = { "x-forwarded-for": "203.0.113.5" };
    for (let count = 0; count < 20; count += 1) await post(gateway, undefined, undefined, from);
    expect((await post(gateway, tokens.operator, undefined, from)).status).toBe(200);
  });

  test("a forwarded loopback address is not this machine: it is locked out like any other", async () => {
    const { gateway, tokens } = await started();
    const from = { "x-forwarded-for": "127.0.0.1" };
    for (let count = 0; count < 10; count += 1) await post(gateway, BAD, undefined, from);
    expect((await post(gateway, tokens.operator, undefined, from)).status).toBe(429);
    expect((await post(gateway, tokens.operator)).status).toBe(200);
  });
});
