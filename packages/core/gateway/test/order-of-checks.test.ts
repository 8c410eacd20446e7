// POST /webhook promises the ORDER of its checks: a request that is wrong in several ways is told the first one. A later
// check that ran earlier would tell a stranger something (is this key known? is this JSON?) before he proved anything.
import { describe, expect, test } from "vitest";
import { Harness } from "./harness.ts";
import { call } from "./http.ts";

/** Every way to be wrong, in the order the answers must come in. `break` makes a good request bad in this way. */
const STEPS: readonly { status: number; code: string; headers?: Record<string, string>; body?: string | Buffer }[] = [
  { status: 403, code: "BAD_HOST", headers: { host: "evil.example" } },
  { status: 403, code: "BAD_ORIGIN", headers: { origin: "http://evil.example" } },
  { status: 429, code: "RATE_LIMITED", headers: { "x-forwarded-for": "203.0.113.1" } },
  { status: 401, code: "UNAUTHORIZED", headers: { authorization: `Bearer svc_${"0".repeat(64)}` } },
  { status: 401, code: "BAD_WEBHOOK_SECRET", headers: { "x-webhook-secret": "wrong" } },
  { status: 415, code: "BAD_CONTENT_TYPE", headers: { "content-type": "text/plain" } },
  { status: 413, code: "TOO_LARGE", body: Buffer.alloc(5000, 0xff) },
  { status: 401, code: "BAD_SIGNATURE", headers: { "webhook-signature": "v1,AAAA" } },
  { status: 400, code: "BAD_JSON", body: Buffer.from('{"message":"\xff"}', "latin1") },
  { status: 400, code: "BAD_BODY", body: '{"text":"hi"}' },
  { status: 400, code: "BAD_SESSION_ID", headers: { "x-session-id": "a/b" } },
  { status: 400, code: "BAD_IDEMPOTENCY_KEY", headers: { "x-idempotency-key": "a b" } },
];

describe("order of checks on POST /webhook", () => {
  for (const [index, step] of STEPS.entries()) {
    test(`${step.status} ${step.code} comes before everything after it`, async () => {
      const harness = new Harness();
      const token = harness.device();
      const isSignatureStep = step.code === "BAD_SIGNATURE";
      const gateway = await harness.start({
        config: { webhook_rate_limit_per_minute: 1, trust_forwarded_headers: true },
        // A signature can only be wrong on purpose where one is demanded; the other steps test without.
        webhook: { secret: "s3cret", ...(isSignatureStep && { signing_secret: "whsec_c2VjcmV0" }) },
      });
      const headers: Record<string, string> = {
        host: "localhost",
        authorization: `Bearer ${token}`,
        "x-webhook-secret": "s3cret",
        "content-type": "application/json",
        "x-forwarded-for": "203.0.113.2",
      };
      // The one slot of 203.0.113.1 is taken, so that its next request is over the limit.
      const used = { ...headers, "x-forwarded-for": "203.0.113.1" };
      await call(gateway, { method: "POST", path: "/webhook", headers: used, body: '{"message":"hi"}' });
      const before = gateway.turns.length;

      let body: string | Buffer | undefined;
      for (const wrong of STEPS.slice(index)) {
        Object.assign(headers, wrong.headers);
        body ??= wrong.body;
      }
      const answer = await call(gateway, {
        method: "POST",
        path: "/webhook",
        headers,
        body: body ?? '{"message":"hi"}',
      });
      expect([answer.status, answer.json.code]).toEqual([step.status, step.code]);
      expect(gateway.turns.length).toBe(before);
      expect(gateway.claimed.size).toBe(0);
    });
  }

  test("the same request with nothing wrong runs the turn", async () => {
    const harness = new Harness();
    const token = harness.device();
    const gateway = await harness.start({ webhook: { secret: "s3cret" } });
    const answer = await call(gateway, {
      method: "POST",
      path: "/webhook",
      headers: {
        host: "localhost",
        authorization: `Bearer ${token}`,
        "x-webhook-secret": "s3cret",
        "content-type": "application/json",
      },
      body: '{"message":"hi"}',
    });
    expect(answer.status).toBe(200);
  });
});
