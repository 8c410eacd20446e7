// Pairing: a six-digit code is guessable, so everything around it (lockouts, burning, one use, expiry) is what protects it.
import { hash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { CODE_TTL_MS, MAX_LIVE_CODES, PairingCodes } from "../src/auth/pairing.ts";
import { Harness, type HarnessOptions } from "./harness.ts";
import { call, post } from "./http.ts";

const TRUSTING = { config: { trust_forwarded_headers: true } } satisfies HarnessOptions;

const pair = (gateway: Harness, code: string, body?: string, headers: Record<string, string> = {}) =>
  call(gateway, {
    method: "POST",
    path: "/pair",
    headers: { "x-pairing-code": code, ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    ...(body !== undefined && { body }),
  });
const issue = (gateway: Harness, scope: "operator" | "webhook" | "read" = "operator", name?: string) =>
  gateway.gateway.pairing.issueCode({ scope, name }).code;
const wrongOf = (code: string) => (code === "000000" ? "000001" : "000000");

describe("POST /pair", () => {
  test("turns a code into a token that works at once, and keeps only its hash", async () => {
    const gateway = await new Harness().start();
    const answer = await pair(gateway, issue(gateway), '{"device_name":" phone "}');
    expect([answer.status, answer.json.paired]).toEqual([200, true]);
    expect(answer.json.token).toMatch(/^svc_[0-9a-f]{64}$/);
    expect(Object.keys(answer.json)).toEqual(["paired", "token"]);
    const device = gateway.devices[0]!;
    expect(device).toMatchObject({ name: "phone", scope: "operator" });
    expect(device.tokenHash).toBe(hash("sha256", answer.json.token, "hex"));
    expect(JSON.stringify(gateway.devices) + gateway.log.text()).not.toContain(answer.json.token);
    expect((await post(gateway, answer.json.token)).status).toBe(200);
    expect(gateway.turns[0]?.clientId).toBe(device.clientId);
  });

  test("needs no body; every device has a ClientId of its own", async () => {
    const gateway = await new Harness().start();
    await pair(gateway, issue(gateway));
    await pair(gateway, issue(gateway));
    expect(gateway.devices[0]?.clientId).not.toBe(gateway.devices[1]?.clientId);
    expect(gateway.devices[0]?.name).toBe("device");
  });

  test("gives the scope and the name that the operator asked for", async () => {
    const gateway = await new Harness().start();
    const { token } = (await pair(gateway, issue(gateway, "read", "wall display"), '{"device_name":"x"}')).json;
    expect(gateway.devices[0]).toMatchObject({ scope: "read", name: "wall display" });
    expect((await post(gateway, token)).json.code).toBe("FORBIDDEN_SCOPE");
  });

  test.each([
    ["no JSON", "{", 400, "BAD_JSON"],
    ["a list", "[]", 400, "BAD_REQUEST"],
    ["a number as name", '{"device_name":1}', 400, "BAD_REQUEST"],
    ["a blank name", '{"device_name":" "}', 400, "BAD_REQUEST"],
    ["a name that would steer a terminal", '{"device_name":"\\u001b[2J"}', 400, "BAD_REQUEST"],
    ["a name of 65 characters", JSON.stringify({ device_name: "x".repeat(65) }), 400, "BAD_REQUEST"],
    ["five kilobytes", `{"device_name":"${"x".repeat(5000)}"}`, 413, "TOO_LARGE"],
  ])("refuses %s as body without using the code up", async (_name, body, status, code) => {
    const gateway = await new Harness().start();
    const pairingCode = issue(gateway);
    const answer = await pair(gateway, pairingCode, body);
    expect([answer.status, answer.json.code]).toEqual([status, code]);
    expect((await pair(gateway, pairingCode)).status).toBe(200);
  });

  test("refuses a body of another content type", async () => {
    const gateway = await new Harness().start();
    const headers = { "content-type": "text/plain" };
    expect((await pair(gateway, issue(gateway), "{}", headers)).status).toBe(415);
  });

  test("two requests with one code at the same time: one token", async () => {
    const gateway = await new Harness().start();
    const code = issue(gateway);
    const answers = await Promise.all([pair(gateway, code), pair(gateway, code), pair(gateway, code)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403, 403]);
    expect(gateway.devices).toHaveLength(1);
  });

  test("a device that can't be stored: 500, nothing kept, nothing told, and the code works again", async () => {
    const gateway = await new Harness().start();
    const code = issue(gateway);
    gateway.failNextAdd = new Error("SQLITE_FULL /home/someone/svc.db");
    const failed = await pair(gateway, code);
    expect([failed.status, failed.json.code]).toEqual([500, "INTERNAL"]);
    expect(failed.text).not.toMatch(/SQLITE|home|svc_/);
    expect(gateway.devices).toHaveLength(0);
    expect((await pair(gateway, code)).status).toBe(200);
  });
});

describe("codes", () => {
  test("expire after ten minutes", async () => {
    const gateway = await new Harness().start();
    const code = issue(gateway);
    await gateway.clock.advance(600_000 - 1);
    expect((await pair(gateway, wrongOf(code))).status).toBe(403);
    await gateway.clock.advance(1);
    expect((await pair(gateway, code)).json.code).toBe("BAD_PAIRING_CODE");
  });

  test("the wall clock has no say in it", async () => {
    const gateway = await new Harness().start();
    const code = issue(gateway);
    gateway.clock.setWallClock(gateway.clock.now() + 86_400_000);
    expect((await pair(gateway, code)).status).toBe(200);
  });

  test("are burnt by thirty wrong tries in all, from wherever they come", async () => {
    const gateway = await new Harness().start(TRUSTING);
    const code = issue(gateway);
    for (let attempt = 0; attempt < 30; attempt += 1) {
      // Four a client, so that nobody is locked out.
      const from = { "x-forwarded-for": `203.0.113.${Math.floor(attempt / 4)}` };
      expect((await pair(gateway, wrongOf(code), undefined, from)).status).toBe(403);
    }
    expect((await pair(gateway, code)).status).toBe(403);
    expect(gateway.log.text()).toContain("thirty wrong tries");
  });

  test("survive twenty-nine", async () => {
    const codes = new PairingCodes();
    const { code } = codes.issue("operator", undefined, 0);
    for (let attempt = 0; attempt < 29; attempt += 1) codes.take(wrongOf(code), 0);
    expect(codes.take(code, 0).found?.code).toBe(code);
  });

  test("are not burnt by what can't be a guess", () => {
    const codes = new PairingCodes();
    const { code } = codes.issue("operator", undefined, 0);
    for (const nonsense of ["", "12345", "1234567", "12345a", "１２３４５６", ` ${code}`, `${code}\n`]) {
      for (let attempt = 0; attempt < 30; attempt += 1) expect(codes.take(nonsense, 0).found).toBeUndefined();
    }
    expect(codes.take(code, 0).found?.code).toBe(code);
  });

  test("several may be live, a bounded number of them, the oldest giving way", () => {
    const codes = new PairingCodes();
    const issued = Array.from({ length: MAX_LIVE_CODES + 1 }, () => codes.issue("operator", undefined, 0).code);
    expect(new Set(issued.slice(1)).size).toBe(MAX_LIVE_CODES);
    expect(codes.take(issued[1]!, 0).found).toBeDefined();
    // The dropped code may by chance be one that was drawn again later.
    expect(codes.take(issued[0]!, 0).found === undefined).toBe(!issued.slice(1).includes(issued[0]!));
    expect(codes.take(issued[MAX_LIVE_CODES]!, CODE_TTL_MS).found).toBeUndefined();
  });

  test("are printed at start only when nobody is paired", async () => {
    const harness = new Harness();
    harness.device();
    expect((await harness.start()).gateway.pairing.initialCode()).toBeUndefined();
    const fresh = await new Harness().start();
    const initial = fresh.gateway.pairing.initialCode();
    expect(initial?.expiresAt).toBe(fresh.clock.now() + 600_000);
    expect((await pair(fresh, initial!.code)).status).toBe(200);
    expect(fresh.gateway.pairing.initialCode()).toBeUndefined();
  });
});

describe("guessing", () => {
  test("five wrong codes lock out that client alone, for the right code too, and for 300 s", async () => {
    const gateway = await new Harness().start(TRUSTING);
    const code = issue(gateway);
    const attacker = { "x-forwarded-for": "203.0.113.66" };
    for (let attempt = 0; attempt < 5; attempt += 1) await pair(gateway, wrongOf(code), undefined, attacker);
    const locked = await pair(gateway, code, undefined, attacker);
    expect([locked.status, locked.json.code, locked.json.retry_after]).toEqual([429, "LOCKED_OUT", 300]);
    expect(locked.headers["retry-after"]).toBe("300");
    expect((await pair(gateway, code, undefined, { "x-forwarded-for": "203.0.113.67" })).status).toBe(200);
    const second = issue(gateway);
    await gateway.clock.advance(299_000);
    expect((await pair(gateway, second, undefined, attacker)).json.retry_after).toBe(1);
    await gateway.clock.advance(1000);
    expect((await pair(gateway, second, undefined, attacker)).status).toBe(200);
  });

  test("a forged header locks out nobody who connects directly", async () => {
    const gateway = await new Harness().start(TRUSTING);
    const code = issue(gateway);
    const forged = { "x-forwarded-for": "127.0.0.1" };
    for (let attempt = 0; attempt < 6; attempt += 1) await pair(gateway, wrongOf(code), undefined, forged);
    expect((await pair(gateway, code, undefined, forged)).status).toBe(429);
    expect((await pair(gateway, code)).status).toBe(200);
  });

  test("ten requests a minute, whatever they are", async () => {
    const gateway = await new Harness().start();
    for (let count = 0; count < 10; count += 1) await pair(gateway, "", "{");
    const limited = await pair(gateway, issue(gateway));
    expect([limited.status, limited.json.code, limited.json.retry_after]).toEqual([429, "RATE_LIMITED", 60]);
  });

  test("no answer and no log line ever holds a code", async () => {
    const gateway = await new Harness().start();
    const code = issue(gateway);
    const answers = [await pair(gateway, wrongOf(code)), await pair(gateway, code), await pair(gateway, code)];
    const said = answers.map(({ text }) => text.replace(/svc_[0-9a-f]+/, "")).join() + gateway.log.text();
    expect(said).not.toContain(code);
    expect(said).not.toContain(wrongOf(code));
  });
});
