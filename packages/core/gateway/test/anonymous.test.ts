// gateway.require_pairing = false: what it lifts (the bearer of POST /webhook), and all that it does not.
import { describe, expect, test } from "vitest";
import { Harness, type HarnessOptions } from "./harness.ts";
import { call, post, until, Wire } from "./http.ts";

const OPEN = { require_pairing: false };

const started = (options: HarnessOptions = {}) =>
  new Harness().start({ ...options, config: { ...OPEN, ...options.config } });

describe("callers without a token", () => {
  test("share one namespace of sessions and keys, and have a ClientId per connection", async () => {
    const gateway = await started();
    await post(gateway, undefined, undefined, { "x-idempotency-key": "k" });
    const again = await post(gateway, undefined, undefined, { "x-idempotency-key": "k" });
    expect(again.json.status).toBe("duplicate");
    await post(gateway, undefined);
    const [one, two] = gateway.turns;
    expect([one?.owner, two?.owner, one?.claim?.scope]).toEqual(["anonymous", "anonymous", "anonymous"]);
    expect(one?.clientId).toMatch(/^anonymous\.[\w-]{22}$/);
    expect(one?.clientId).not.toBe(two?.clientId);
  });

  test("keep their ClientId as long as the connection lasts", async () => {
    const gateway = await started();
    const wire = new Wire(gateway);
    const request =
      'POST /webhook HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 16\r\n\r\n{"message":"hi"}';
    wire.write(request);
    await wire.responses(1);
    wire.write(request);
    await wire.responses(2);
    wire.socket.destroy();
    expect(gateway.turns[0]?.clientId).toBe(gateway.turns[1]?.clientId);
  });

  test("are somebody until their connection is closed, each once", async () => {
    const gateway = await started();
    const wire = new Wire(gateway);
    const request =
      'POST /webhook HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 16\r\n\r\n{"message":"hi"}';
    wire.write(request);
    wire.write(request);
    await wire.responses(2);
    expect(gateway.gone).toEqual([]);
    wire.socket.destroy();
    await until(() => gateway.gone.length > 0);
    expect(gateway.gone).toEqual([gateway.turns[0]?.clientId]);
  });

  test("are let in with a token that is none of ours: nothing is asked of them", async () => {
    const gateway = await started();
    expect((await post(gateway, `svc_${"0".repeat(64)}`)).status).toBe(200);
    expect(gateway.turns[0]?.owner).toBe("anonymous");
  });

  test("a paired device is itself all the same", async () => {
    const harness = new Harness();
    const token = harness.device("webhook", "bridge");
    await harness.start({ config: OPEN });
    await post(harness, token);
    expect(harness.turns[0]).toMatchObject({ clientId: "client-bridge", owner: "client-bridge" });
  });

  test("/api still needs a token", async () => {
    const gateway = await started();
    for (const path of ["/api/status", "/api/sessions"]) expect((await call(gateway, { path })).status).toBe(401);
  });
});

describe("behind a proxy", () => {
  test.each(["x-forwarded-for", "forwarded", "x-real-ip", "via", "cf-connecting-ip"])("%s → 401", async (name) => {
    const gateway = await started();
    const answer = await post(gateway, undefined, undefined, { [name]: "127.0.0.1" });
    expect([answer.status, answer.json.code]).toEqual([401, "UNAUTHORIZED"]);
  });

  test("a configured webhook secret makes it possible", async () => {
    const gateway = await started({ webhook: { secret: "s3cret" } });
    const from = { "x-forwarded-for": "203.0.113.5" };
    expect((await post(gateway, undefined, undefined, { ...from, "x-webhook-secret": "s3cret" })).status).toBe(200);
    expect((await post(gateway, undefined, undefined, from)).json.code).toBe("BAD_WEBHOOK_SECRET");
  });
});

describe("said loudly", () => {
  test("open without any secret: a warning at start", async () => {
    expect((await started()).log.lines[0]).toMatchObject({ level: "warn" });
    expect((await started({ webhook: { secret: "s" } })).log.lines.some(({ level }) => level === "warn")).toBe(false);
  });

  test("require_signatures turns it into 401", async () => {
    const gateway = await started({ config: { require_signatures: true } });
    expect((await post(gateway, undefined)).status).toBe(401);
  });
});
