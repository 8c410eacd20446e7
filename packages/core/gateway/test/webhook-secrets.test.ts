// The two optional layers of POST /webhook: the X-Webhook-Secret and the Standard Webhooks signature.
import { createHmac } from "node:crypto";
import { SvcError } from "@svc/contract";
import { hashedSecret } from "@svc/config";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { REMEMBER_MS } from "../src/pipeline.ts";
import { secretCheck, SeenIds, SignatureCheck } from "../src/routes/webhook.ts";
import { Harness, type HarnessOptions } from "./harness.ts";
import { post } from "./http.ts";

const BODY = '{"message":"hi"}';
const KEY = "c2lnbmluZy1rZXktMDEyMzQ1Njc4OQ==";
const SECRET = `whsec_${KEY}`;

async function started(options: HarnessOptions) {
  const harness = new Harness();
  const token = harness.device();
  return { token, gateway: await harness.start(options) };
}

function signed(
  gateway: Harness,
  options: { id?: string; skewSecs?: number; body?: string; key?: Buffer } = {},
): Record<string, string> {
  const { id = "msg_1", skewSecs = 0, body = BODY, key = Buffer.from(KEY, "base64") } = options;
  const timestamp = String(Math.floor(gateway.clock.now() / 1000) + skewSecs);
  const mac = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${mac}` };
}

describe("X-Webhook-Secret", () => {
  test.each([
    ["right", "s3cret", 200],
    ["with blanks around it", " s3cret\t", 200],
    ["wrong", "s3creT", 401],
    ["empty", "", 401],
  ])("%s", async (_name, value, status) => {
    const { gateway, token } = await started({ webhook: { secret: "s3cret" } });
    const answer = await post(gateway, token, BODY, { "x-webhook-secret": value });
    expect(answer.status).toBe(status);
    expect(answer.json.code).toBe(status === 401 ? "BAD_WEBHOOK_SECRET" : undefined);
  });

  test("missing is 401, and a bearer token alone does not help", async () => {
    const { gateway, token } = await started({ webhook: { secret: "s3cret" } });
    expect((await post(gateway, token)).status).toBe(401);
  });

  test("right, but without a bearer token, is 401: the layers are independent", async () => {
    const { gateway } = await started({ webhook: { secret: "s3cret" } });
    const answer = await post(gateway, undefined, BODY, { "x-webhook-secret": "s3cret" });
    expect([answer.status, answer.json.code]).toEqual([401, "UNAUTHORIZED"]);
  });

  test("configured blank counts as unset", async () => {
    const { gateway, token } = await started({ webhook: { secret: "  ", signing_secret: " " } });
    expect((await post(gateway, token)).status).toBe(200);
  });

  test("any secret is accepted as the bytes a client sends for it, and nothing else is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", minLength: 1 }), fc.string(), (secret, other) => {
        const accepts = secretCheck(hashedSecret(secret));
        const wire = Buffer.from(secret, "utf8").toString("latin1");
        fc.pre(!/^[ \t]|[ \t]$/.test(secret) && other !== secret && other.trim() !== secret);
        expect(accepts?.(wire)).toBe(true);
        expect(accepts?.(Buffer.from(other, "utf8").toString("latin1"))).toBe(false);
      }),
    );
  });
});

describe("Standard Webhooks signature", () => {
  test("the published example of the format verifies", () => {
    // https://github.com/standard-webhooks/standard-webhooks, README of the reference libraries.
    const check = new SignatureCheck("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", new SeenIds(REMEMBER_MS));
    const headers = {
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    };
    const body = Buffer.from('{"test": 2432232314}');
    expect(check.take(headers, body, 1_614_265_330_000)).toBe("msg_p5jXN8AQM9LWM0D4loKWxJek");
  });

  test("valid → the turn runs", async () => {
    const { gateway, token } = await started({ webhook: { signing_secret: SECRET } });
    expect((await post(gateway, token, BODY, signed(gateway))).status).toBe(200);
  });

  test("a secret without the prefix is the key itself", async () => {
    const { gateway, token } = await started({ webhook: { signing_secret: "plain" } });
    expect((await post(gateway, token, BODY, signed(gateway, { key: Buffer.from("plain") }))).status).toBe(200);
  });

  test("one valid entry among others is enough", async () => {
    const { gateway, token } = await started({ webhook: { signing_secret: SECRET } });
    const headers = signed(gateway);
    headers["webhook-signature"] = `v1a,AAAA v1,AAAA ${headers["webhook-signature"]}`;
    expect((await post(gateway, token, BODY, headers)).status).toBe(200);
  });

  const BREAKERS: readonly [string, (headers: Record<string, string>) => unknown][] = [
    ["no id", (headers) => delete headers["webhook-id"]],
    ["no timestamp", (headers) => delete headers["webhook-timestamp"]],
    ["no signature", (headers) => delete headers["webhook-signature"]],
    ["another id", (headers) => (headers["webhook-id"] = "msg_2")],
    ["another time", (headers) => (headers["webhook-timestamp"] = String(Number(headers["webhook-timestamp"]) + 1))],
    ["a time that is no integer", (headers) => (headers["webhook-timestamp"] += ".0")],
    ["no version", (headers) => (headers["webhook-signature"] = headers["webhook-signature"]!.slice(3))],
    ["an unknown version", (headers) => (headers["webhook-signature"] = `v2${headers["webhook-signature"]!.slice(2)}`)],
    ["half of it", (headers) => (headers["webhook-signature"] = headers["webhook-signature"]!.slice(0, -10))],
  ];
  test.each(BREAKERS)("%s → 401, no turn", async (_name, breakIt) => {
    const { gateway, token } = await started({ webhook: { signing_secret: SECRET } });
    const headers = signed(gateway);
    breakIt(headers);
    const answer = await post(gateway, token, BODY, headers);
    expect([answer.status, answer.json.code, gateway.turns.length]).toEqual([401, "BAD_SIGNATURE", 0]);
  });

  test("a body changed by one byte → 401", async () => {
    const { gateway, token } = await started({ webhook: { signing_secret: SECRET } });
    expect((await post(gateway, token, '{"message":"hI"}', signed(gateway))).status).toBe(401);
  });

  test.each([
    [-301, 401],
    [-300, 200],
    [300, 200],
    [301, 401],
  ])("a timestamp %i s off → %i", async (skewSecs, status) => {
    const { gateway, token } = await started({ webhook: { signing_secret: SECRET } });
    expect((await post(gateway, token, BODY, signed(gateway, { skewSecs }))).status).toBe(status);
  });

  test("a replay is 401 as long as its timestamp could be fresh", async () => {
    const { gateway, token } = await started({ webhook: { signing_secret: SECRET } });
    const headers = signed(gateway, { skewSecs: 300 });
    expect((await post(gateway, token, BODY, headers)).status).toBe(200);
    await gateway.clock.advance(599_000);
    expect((await post(gateway, token, BODY, headers)).status).toBe(401);
    expect(gateway.turns).toHaveLength(1);
  });

  test("a replay after a restart is a duplicate, whatever idempotency key was put on it: that one is not signed", async () => {
    const { gateway, token } = await started({ webhook: { signing_secret: SECRET } });
    const headers = signed(gateway);
    expect((await post(gateway, token, BODY, { ...headers, "x-idempotency-key": "mine" })).status).toBe(200);
    const again = new Harness();
    again.devices.push(...gateway.devices);
    for (const claim of gateway.claimed) again.claimed.add(claim);
    await again.start({ webhook: { signing_secret: SECRET } });
    const replay = await post(again, token, BODY, { ...headers, "x-idempotency-key": "another" });
    expect([replay.json.status, again.turns.length]).toEqual(["duplicate", 0]);
  });

  test("a replay that comes while the first still runs is 401", async () => {
    let finish = () => {};
    const running = new Promise<void>((resolve) => (finish = resolve));
    const { gateway, token } = await started({
      webhook: { signing_secret: SECRET },
      run: async () => (await running, {}),
    });
    const headers = signed(gateway);
    const first = post(gateway, token, BODY, headers);
    while (gateway.turns.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect((await post(gateway, token, BODY, headers)).status).toBe(401);
    finish();
    expect((await first).status).toBe(200);
  });

  test("a request that was not answered 200 may be sent again: a retry must not lose the message", async () => {
    let fails = true;
    const { gateway, token } = await started({
      webhook: { signing_secret: SECRET },
      run: (request) => {
        if (!fails) return Promise.resolve({});
        // What the agent does with a turn that failed before anything acted.
        gateway.claimed.delete(`${request.claim?.scope} ${request.claim?.key}`);
        return Promise.reject(new SvcError("TURN_FAILED"));
      },
    });
    const headers = signed(gateway);
    expect((await post(gateway, token, BODY, headers)).status).toBe(500);
    fails = false;
    expect((await post(gateway, token, BODY, headers)).status).toBe(200);
  });

  test("the id is the idempotency key where the sender gave none, so that a restart forgets nothing", async () => {
    const { gateway, token } = await started({ webhook: { signing_secret: SECRET } });
    await post(gateway, token, BODY, signed(gateway, { id: "msg_7" }));
    expect(gateway.turns[0]?.claim?.key).toBe("webhook-id:msg_7");
    await post(gateway, token, BODY, { ...signed(gateway, { id: "msg_8" }), "x-idempotency-key": "mine" });
    expect(gateway.turns[1]?.claim?.key).toBe("mine");
  });

  test("ids are forgotten after 600 s and never more than a bounded number", () => {
    const seen = new SeenIds(REMEMBER_MS);
    const check = new SignatureCheck(SECRET, seen);
    const key = Buffer.from(KEY, "base64");
    const take = (id: string, nowMs: number) => {
      const timestamp = String(Math.floor(nowMs / 1000));
      const mac = createHmac("sha256", key).update(`${id}.${timestamp}.${BODY}`).digest("base64");
      const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${mac}` };
      return check.take(headers, Buffer.from(BODY), nowMs);
    };
    for (let index = 0; index < 50; index += 1) take(`m${index}`, 1_000_000 + index * 1000);
    expect(seen.size).toBe(50);
    take("later", 1_000_000 + 49_000 + 600_001);
    expect(seen.size).toBe(1);
  });

  test.each(["whsec_", "whsec_not base64!", "whsec_====", "whsec_YQ=x"])(
    "a malformed %j stops the start instead of making another key, and is not quoted",
    async (signing_secret) => {
      const failure = await new Harness().start({ webhook: { signing_secret } }).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: "CONFIG_INVALID" });
      expect(String((failure as Error).message)).not.toContain(signing_secret);
    },
  );
});
