// The shared conformance vectors that concern the gateway: the same cases every implementation must agree on.
import { hash } from "node:crypto";
import { captureLogger } from "@svc/testkit/capture-logger";
import { vectorCases } from "@svc/testkit/vectors";
import { describe, expect, test } from "vitest";
import { ForwardingMonitor, Peer, SlidingWindow, clientResolver, keyLimit } from "../src/client.ts";
import { isPublicBind } from "../src/http/connections.ts";
import { hostRules, isLocalOnly } from "../src/pipeline.ts";
import { secretCheckOfHash, sessionId } from "../src/routes/webhook.ts";
import { Reply } from "../src/http/reply.ts";
import { Harness } from "./harness.ts";
import { call, post } from "./http.ts";

const lowerCaseNames = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** One case of a group; a case that is not there would be a test of nothing. */
function vectorCase(groupId: string, name: string): { input: any; expected: any } {
  const found = vectorCases<any, any>(groupId).find((one) => one.name === name);
  if (!found) throw new Error(`there is no case ${name} in ${groupId}`);
  return found;
}

describe("webhook.secret", () => {
  const [hashed, presented] = [true, false].map((isHash) =>
    vectorCases<any, any>("webhook.secret").filter(({ input }) => (input.secret !== undefined) === isHash),
  );
  test.each(hashed!)("$name", ({ input, expected }) => {
    expect(hash("sha256", input.secret, "hex")).toBe(expected.sha256_hex);
  });
  test.each(presented!)("$name", ({ input, expected }) => {
    const accepts = secretCheckOfHash(Buffer.from(input.stored_sha256_hex, "hex"));
    expect(accepts(input.header) ? 200 : 401).toBe(expected.status);
  });
});

test.each(vectorCases<any, any>("rate_limit.sliding_window"))(
  "rate_limit.sliding_window $name",
  ({ input, expected }) => {
    const window = new SlidingWindow({ limit: input.limit, windowMs: input.window_ms, maxKeys: input.max_keys });
    const allowed = input.steps.map((step: { key: string; at_ms: number }) => window.take(step.key, step.at_ms) === 0);
    const keys = window.keys().sort();
    expect({ allowed, tracked_keys_after: keys }).toEqual({ tracked_keys_after: keys, ...expected });
  },
);

test.each(vectorCases<any, any>("rate_limit.max_keys"))("rate_limit.max_keys $name", ({ input, expected }) => {
  expect(keyLimit(input.configured)).toBe(expected.max_keys);
});

test.each(vectorCases<any, any>("client_key"))("client_key $name", ({ input, expected }) => {
  const clientOf = clientResolver({
    trustForwardedHeaders: input.trust_forwarded_headers,
    trustedProxies: ["10.0.0.0/8"],
    watch: new ForwardingMonitor(captureLogger()),
  });
  expect(clientOf(lowerCaseNames(input.headers), new Peer(input.peer)).address).toBe(expected.client_key);
});

test.each(vectorCases<any, any>("session_id"))("session_id $name", ({ input, expected }) => {
  const result = sessionId(input);
  expect(result instanceof Reply ? { status: result.status } : result).toEqual(expected);
});

test.each(vectorCases<any, any>("localhost_gate"))("localhost_gate $name", ({ input, expected }) => {
  const rules = hostRules({ allowedHosts: [], publicUrl: undefined, port: 42617 });
  const request = { peerAddress: input.peer, headers: lowerCaseNames(input.headers) };
  expect(isLocalOnly(request, rules)).toBe(expected.allowed);
});

test.each(vectorCases<any, any>("bind.public"))("bind.public $name", ({ input, expected }) => {
  expect(isPublicBind(input.host)).toBe(expected.public);
});

describe("pairing.tokens", () => {
  test("code_issued_when_no_tokens", async () => {
    const gateway = await new Harness().start();
    expect(gateway.gateway.pairing.initialCode()?.code).toMatch(
      new RegExp(vectorCase("pairing.tokens", "code_issued_when_no_tokens").expected.code_regex),
    );
    expect(gateway.devices).toHaveLength(0);
  });

  test("no_code_when_pairing_disabled", async () => {
    const gateway = await new Harness().start({ config: { require_pairing: false } });
    expect(gateway.gateway.pairing.initialCode() ?? null).toBe(
      vectorCase("pairing.tokens", "no_code_when_pairing_disabled").expected.code,
    );
  });

  test("presenting_the_hash_fails", async () => {
    const { input, expected } = vectorCase("pairing.tokens", "presenting_the_hash_fails");
    const gateway = new Harness();
    gateway.device();
    gateway.devices.push({ ...gateway.devices[0]!, id: "dev-2", tokenHash: input.stored_tokens[0] });
    await gateway.start();
    for (const token of [input.presented, `svc_${input.presented}`]) {
      expect((await post(gateway, token)).status === 200).toBe(expected.authenticated);
    }
  });

  test("code_one_time", async () => {
    const gateway = await new Harness().start();
    const code = gateway.gateway.pairing.issueCode({ scope: "operator" }).code;
    const outcomes = [];
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const answer = await call(gateway, { method: "POST", path: "/pair", headers: { "x-pairing-code": code } });
      outcomes.push(answer.json.token === undefined ? "rejected" : "token");
    }
    expect(outcomes).toEqual(vectorCase("pairing.tokens", "code_one_time").expected.results);
  });

  test("empty_code_rejected", async () => {
    const gateway = await new Harness().start();
    gateway.gateway.pairing.issueCode({ scope: "operator" });
    const answer = await call(gateway, { method: "POST", path: "/pair", headers: { "x-pairing-code": "" } });
    expect(answer.json.paired ?? false).toBe(vectorCase("pairing.tokens", "empty_code_rejected").expected.paired);
    expect(answer.status).toBe(403);
  });
});

describe("pairing.lockout", () => {
  async function attempts() {
    const gateway = await new Harness().start();
    const { code } = gateway.gateway.pairing.issueCode({ scope: "operator" });
    const wrong = code === "000000" ? "000001" : "000000";
    const attempt = (kind: string) => {
      const headers = { "x-pairing-code": kind === "correct" ? code : wrong };
      return call(gateway, { method: "POST", path: "/pair", headers });
    };
    const all = async (kinds: readonly string[]) => {
      const answers = [];
      for (const kind of kinds) answers.push(await attempt(kind));
      return answers;
    };
    return { clock: gateway.clock, attempt, all };
  }

  test("five_wrong_then_locked", async () => {
    const { input, expected } = vectorCase("pairing.lockout", "five_wrong_then_locked");
    const answers = await (await attempts()).all(input.attempts);
    expect(answers.map((answer) => answer.status)).toEqual(expected.statuses);
    const [low, high] = expected.retry_after_seconds_between;
    expect(answers.at(-1)?.json.retry_after).toBeGreaterThanOrEqual(low);
    expect(answers.at(-1)?.json.retry_after).toBeLessThanOrEqual(high);
  });

  test("three_wrong_then_correct", async () => {
    const { input, expected } = vectorCase("pairing.lockout", "three_wrong_then_correct");
    const answers = await (await attempts()).all(input.attempts);
    expect(answers.map((answer) => answer.status)).toEqual(expected.statuses);
  });

  test("lockout_expires_after_300s", async () => {
    const { input, expected } = vectorCase("pairing.lockout", "lockout_expires_after_300s");
    const { clock, attempt, all } = await attempts();
    await all(input.attempts);
    expect((await attempt(input.then)).status).toBe(429);
    await clock.advance(input.advance_seconds * 1000);
    expect((await attempt(input.then)).status).toBe(expected.last_status);
  });
});

describe("pairing.auth_rate_limit", () => {
  async function afterBadBearers(count: number, from: Record<string, string>) {
    const harness = new Harness();
    const token = harness.device();
    const config = { trust_forwarded_headers: true, webhook_rate_limit_per_minute: 0 };
    await harness.start({ config });
    for (let attempt = 0; attempt < count; attempt += 1) {
      expect((await post(harness, `svc_${"0".repeat(64)}`, undefined, from)).status).toBe(401);
    }
    return post(harness, token, undefined, from);
  }

  test("loopback_socket_exempt", async () => {
    const { input, expected } = vectorCase("pairing.auth_rate_limit", "loopback_socket_exempt");
    const next = await afterBadBearers(input.attempts, {});
    expect(next.status === 429).toBe(expected.locked);
  });

  test("ten_then_locked", async () => {
    const { input, expected } = vectorCase("pairing.auth_rate_limit", "ten_then_locked");
    const next = await afterBadBearers(input.attempts, { "x-forwarded-for": input.key });
    expect([next.status === 200, next.json.retry_after > 0]).toEqual([
      expected.next_allowed,
      expected.retry_after_positive,
    ]);
  });
});
