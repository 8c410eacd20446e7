// POST /webhook: what is answered, what the turn is handed, and that a message once accepted is never lost or run twice.
import { SvcError, type ErrorCode } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { Harness, type HarnessOptions } from "./harness.ts";
import { call, post, Wire } from "./http.ts";

async function started(options: HarnessOptions = {}) {
  const harness = new Harness();
  const token = harness.device();
  return { token, gateway: await harness.start(options) };
}

describe("a turn", () => {
  test("answers 200 with exactly response, model and session_id", async () => {
    const { gateway, token } = await started();
    const answer = await post(
      gateway,
      token,
      { message: "hello", extra: { ignored: true } },
      { "x-session-id": "s.1" },
    );
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({ response: "echo: hello", model: "fake", session_id: "s.1" });
    expect(answer.headers).toMatchObject({
      "content-type": "application/json; charset=utf-8",
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    });
    expect(gateway.turns[0]).toMatchObject({ clientId: "client-operator", owner: "client-operator", session: "s.1" });
  });

  test("is handed text beyond ASCII byte for byte", async () => {
    const { gateway, token } = await started();
    const text = "žluťoučký 🐎\u0000\n";
    expect((await post(gateway, token, { message: text })).json.response).toBe(`echo: ${text}`);
  });

  test("has no session and no claim when the headers are not there", async () => {
    const { gateway, token } = await started();
    await post(gateway, token);
    const keys = ["author", "clientId", "owner", "sender", "signal", "text"];
    expect(Object.keys(gateway.turns[0]!).sort()).toEqual(keys);
  });

  const FAILURES: readonly [ErrorCode, number][] = [
    ["TURN_FAILED", 500],
    ["TURN_STEP_LIMIT", 500],
    ["MODEL_REFUSED", 502],
    ["MODEL_UNREACHABLE", 502],
    ["TURN_TIMEOUT", 504],
    ["STORE_FULL", 503],
  ];
  test.each(FAILURES)("that fails with %s answers %i", async (code, status) => {
    const { gateway, token } = await started({ run: () => Promise.reject(new SvcError(code)) });
    const answer = await post(gateway, token);
    expect([answer.status, answer.json.code]).toEqual([status, code]);
    expect(Object.keys(answer.json).sort()).toEqual(["code", "error"]);
  });

  test("that is refused as BUSY says when to come back", async () => {
    const busy = new SvcError("BUSY", undefined, { retryAfterMs: 1500 });
    const { gateway, token } = await started({ run: () => Promise.reject(busy) });
    const answer = await post(gateway, token);
    expect([answer.status, answer.headers["retry-after"], answer.json.retry_after]).toEqual([503, "2", 2]);
  });

  test("that throws something unexpected answers 500 and tells nothing of it", async () => {
    const { gateway, token } = await started({ run: () => Promise.reject(new Error("secret-in-a-stack /etc/passwd")) });
    const answer = await post(gateway, token);
    expect([answer.status, answer.json.code]).toEqual([500, "INTERNAL"]);
    expect(answer.text).not.toMatch(/secret-in-a-stack|passwd| at /);
  });

  test("that throws before it returns a promise is answered too", async () => {
    const { gateway, token } = await started({
      run: () => {
        throw new SvcError("TURN_FAILED");
      },
    });
    expect((await post(gateway, token)).status).toBe(500);
  });
});

describe("bodies that are refused", () => {
  const BAD: readonly [string, string | Buffer, string][] = [
    ["nothing", "", "BAD_JSON"],
    ["half of an object", '{"message":', "BAD_JSON"],
    ["a byte that is no UTF-8", Buffer.from('{"message":"\xe9"}', "latin1"), "BAD_JSON"],
    ["UTF-16", Buffer.from('{"message":"hi"}', "utf16le"), "BAD_JSON"],
    ["null", "null", "BAD_BODY"],
    ["a string", '"hi"', "BAD_BODY"],
    ["a list", '[{"message":"hi"}]', "BAD_BODY"],
    ["no message", "{}", "BAD_BODY"],
    ["a number as message", '{"message":1}', "BAD_BODY"],
    ["null as message", '{"message":null}', "BAD_BODY"],
    ["a blank message", '{"message":" \\n\\t\\u00a0 "}', "BAD_BODY"],
    ["a message in the prototype", '{"__proto__":{"message":"hi"}}', "BAD_BODY"],
  ];
  test.each(BAD)("%s", async (_name, body, code) => {
    const { gateway, token } = await started();
    const answer = await post(gateway, token, body);
    expect([answer.status, answer.json.code, gateway.turns.length]).toEqual([400, code, 0]);
  });

  test("nesting so deep that a recursive parser would die of it", async () => {
    const { gateway, token } = await started({ config: { max_body_bytes: 1_048_576 } });
    const answer = await post(gateway, token, "[".repeat(500_000) + "]".repeat(500_000));
    expect(answer.status).toBe(400);
    expect((await post(gateway, token)).status).toBe(200);
  });

  const TYPES: readonly [string | undefined, number][] = [
    ["application/json", 200],
    ["application/json; charset=utf-8", 200],
    ["Application/JSON ;charset=UTF-8", 200],
    [undefined, 415],
    ["text/json", 415],
    ["application/jsonx", 415],
    ["application/x-www-form-urlencoded", 415],
  ];
  test.each(TYPES)("content type %s → %i", async (type, status) => {
    const { gateway, token } = await started();
    const headers: Record<string, string> = { authorization: `Bearer ${token}` };
    if (type !== undefined) headers["content-type"] = type;
    const answer = await call(gateway, { method: "POST", path: "/webhook", headers, body: '{"message":"hi"}' });
    expect(answer.status).toBe(status);
  });

  test("a compressed one", async () => {
    const { gateway, token } = await started();
    expect((await post(gateway, token, undefined, { "content-encoding": "gzip" })).status).toBe(415);
  });
});

describe("X-Idempotency-Key", () => {
  test("a key seen before answers 200 duplicate, and the agent does not run", async () => {
    const { gateway, token } = await started();
    const key = { "x-idempotency-key": "k-1" };
    expect((await post(gateway, token, undefined, key)).json.response).toBe("echo: hi");
    const again = await post(gateway, token, undefined, key);
    expect(again.status).toBe(200);
    expect(again.json).toEqual({ status: "duplicate", idempotent: true, message: expect.stringMatching(/already/) });
    expect(gateway.turns).toHaveLength(1);
    expect(gateway.turns[0]?.claim).toEqual({ scope: "client-operator", key: "k-1" });
  });

  test("a second request while the first still runs is a duplicate too", async () => {
    let finish = () => {};
    const running = new Promise<void>((resolve) => (finish = resolve));
    const { gateway, token } = await started({ run: async () => (await running, {}) });
    const key = { "x-idempotency-key": "k-1" };
    const first = post(gateway, token, undefined, key);
    await until(() => gateway.turns.length === 1);
    expect((await post(gateway, token, undefined, key)).json.status).toBe("duplicate");
    finish();
    expect((await first).json.response).toBe("echo: hi");
  });

  test("keys of two devices do not meet", async () => {
    const harness = new Harness();
    const [one, two] = [harness.device("operator", "one"), harness.device("webhook", "two")];
    const gateway = await harness.start();
    const key = { "x-idempotency-key": "k-1" };
    await post(gateway, one, undefined, key);
    expect((await post(gateway, two, undefined, key)).json.response).toBe("echo: hi");
  });

  test.each(["", " ", "a b", "é", "x".repeat(257)])("%j is 400", async (key) => {
    const { gateway, token } = await started();
    const answer = await post(gateway, token, undefined, { "x-idempotency-key": key });
    expect([answer.status, answer.json.code]).toEqual([400, "BAD_IDEMPOTENCY_KEY"]);
  });

  test("sent twice with different values is 400, not the first of them", async () => {
    const { gateway, token } = await started();
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "x-idempotency-key": ["a", "b"],
    };
    const answer = await call(gateway, { method: "POST", path: "/webhook", headers, body: '{"message":"hi"}' });
    expect(answer.status).toBe(400);
  });
});

test("a client that hangs up does not undo its message: the turn ends, and its replay is a duplicate", async () => {
  let finish = () => {};
  const running = new Promise<void>((resolve) => (finish = resolve));
  let ended = false;
  const { gateway, token } = await started({
    run: async () => {
      await running;
      ended = true;
      return {};
    },
  });
  const wire = new Wire(gateway);
  const body = '{"message":"keep me"}';
  wire.write(
    `POST /webhook HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nX-Idempotency-Key: k\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await until(() => gateway.turns.length === 1);
  wire.socket.destroy();
  await until(() => gateway.gateway.connections === 0);
  expect(gateway.turns[0]?.signal.aborted).toBe(false);
  finish();
  await until(() => ended);
  expect((await post(gateway, token, undefined, { "x-idempotency-key": "k" })).json.status).toBe("duplicate");
});

describe("the limit", () => {
  test("answers 429 with the whole seconds until a slot is free, in body and header", async () => {
    const { gateway, token } = await started({ config: { webhook_rate_limit_per_minute: 2 } });
    await post(gateway, token);
    await gateway.clock.advance(10_500);
    await post(gateway, token);
    const answer = await post(gateway, token);
    expect([answer.status, answer.json.code]).toEqual([429, "RATE_LIMITED"]);
    expect([answer.json.retry_after, answer.headers["retry-after"]]).toEqual([50, "50"]);
    await gateway.clock.advance(49_500);
    expect((await post(gateway, token)).status).toBe(200);
    expect((await post(gateway, token)).status).toBe(429);
  });

  test("is 60 a minute as configured by default, and 0 switches it off", async () => {
    const limited = await started();
    for (let count = 0; count < 60; count += 1) expect((await post(limited.gateway, undefined)).status).toBe(401);
    expect((await post(limited.gateway, limited.token)).status).toBe(429);
    const free = await started({ config: { webhook_rate_limit_per_minute: 0 } });
    for (let count = 0; count < 70; count += 1) expect((await post(free.gateway, free.token)).status).toBe(200);
  });

  test("counts IPv6 clients by /64: one subscriber is one client", async () => {
    const { gateway, token } = await started({
      config: { webhook_rate_limit_per_minute: 1, trust_forwarded_headers: true },
    });
    const from = (address: string) => post(gateway, token, undefined, { "x-forwarded-for": address });
    expect((await from("2001:db8:1:2::1")).status).toBe(200);
    expect((await from("2001:db8:1:2:ffff::9")).status).toBe(429);
    expect((await from("2001:db8:1:3::1")).status).toBe(200);
  });

  test("ignores forwarding headers while trust is off, and says so once", async () => {
    const { gateway, token } = await started({ config: { webhook_rate_limit_per_minute: 1 } });
    const from = (address: string) => post(gateway, token, undefined, { "x-forwarded-for": address });
    expect((await from("203.0.113.1")).status).toBe(200);
    expect((await from("203.0.113.2")).status).toBe(429);
    expect(gateway.log.lines.filter((line) => line.message.includes("trust_forwarded_headers"))).toHaveLength(1);
    expect(gateway.log.text()).not.toContain("203.0.113");
  });

  test("ignores them from a peer that is no trusted proxy", async () => {
    const { gateway, token } = await started({
      config: { webhook_rate_limit_per_minute: 1, trust_forwarded_headers: true, trusted_proxies: ["10.0.0.0/8"] },
    });
    const from = (address: string) => post(gateway, token, undefined, { "x-forwarded-for": address });
    expect((await from("203.0.113.1")).status).toBe(200);
    expect((await from("203.0.113.2")).status).toBe(429);
  });
});

/** Polls the event loop, never the clock. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}
