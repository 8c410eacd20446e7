// Callers of POST /webhook who do not wait: accepted means kept, in the session that a request that waits would have had, and
// nobody else's; every check is made, and in the same order.
import { SvcError } from "@svc/contract";
import type { Arrival, Arrived } from "@svc/store";
import { describe, expect, test } from "vitest";
import { channelIdentity } from "../src/identity.ts";
import { prefersAsync } from "../src/routes/webhook.ts";
import { Harness, type HarnessOptions } from "./harness.ts";
import { call, post } from "./http.ts";
import { started as paired } from "./paired.ts";
import { signed } from "./signed.ts";

const LATER = { prefer: "respond-async" };

async function started(options: HarnessOptions = {}) {
  const harness = new Harness();
  harness.channelsUp.add("webhook");
  const token = harness.device();
  return { token, gateway: await harness.start(options) };
}

const messageOf = ({ messages: [message] }: Arrival) => message!;

describe("a request whose caller does not wait", () => {
  test("is kept and answered 202 with its session and its number; no turn runs for it here", async () => {
    const { gateway, token } = await started();
    const answer = await post(gateway, token, { message: "do it" }, { ...LATER, "x-session-id": "ops" });
    expect([answer.status, answer.json]).toEqual([202, { status: "accepted", session_id: "ops", message_id: "in-1" }]);
    expect(answer.headers).toMatchObject({ "preference-applied": "respond-async", "cache-control": "no-store" });
    expect(gateway.turns).toEqual([]);
    const [arrival] = gateway.arrivals as [Arrival];
    expect(arrival.channel).toBe("webhook");
    expect(messageOf(arrival)).toEqual({
      kind: "message",
      conversationKey: '{"session":["client-operator","ops"]}',
      body: {
        conversation: { channel: "webhook", id: "ops@dev-operator" },
        sender: "dev-operator",
        text: "do it",
        replyData: { session: "ops" },
      },
    });
  });

  test("without a session begins one of its own, under a name that nobody has", async () => {
    const { gateway, token } = await started();
    const names = [];
    for (let n = 0; n < 2; n += 1) names.push((await post(gateway, token, undefined, LATER)).json.session_id);
    expect(new Set(names).size).toBe(2);
    expect(names).toEqual(gateway.arrivals.map((arrival) => JSON.parse(messageOf(arrival).conversationKey).session[1]));
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
  });

  test("waits after all where answers can't be posted, and is answered as ever", async () => {
    const { gateway, token } = await started();
    gateway.channelsUp.clear();
    const answer = await post(gateway, token, { message: "hi" }, LATER);
    expect([answer.status, answer.json.response]).toEqual([200, "echo: hi"]);
    expect(answer.headers).not.toHaveProperty("preference-applied");
    expect(gateway.arrivals).toEqual([]);
  });

  test("of another client is in another session, whatever they call it; so is an anonymous one", async () => {
    const harness = new Harness();
    harness.channelsUp.add("webhook");
    const tokens = [harness.device("webhook", "ci"), harness.device("webhook", "cron"), undefined];
    const gateway = await harness.start({ config: { require_pairing: false } });
    for (const token of tokens) {
      expect((await post(gateway, token, undefined, { ...LATER, "x-session-id": "ops" })).status).toBe(202);
    }
    const messages = gateway.arrivals.map(messageOf);
    expect(messages.map(({ conversationKey }) => JSON.parse(conversationKey))).toEqual([
      { session: ["client-ci", "ops"] },
      { session: ["client-cron", "ops"] },
      { session: ["anonymous", "ops"] },
    ]);
    const places = messages.map(({ body }) => (body as { conversation: { id: string } }).conversation.id);
    expect(places).toEqual(["ops@dev-ci", "ops@dev-cron", "ops@anonymous"]);
  });
});

describe("every check comes first", () => {
  test.each<[string, number, Record<string, string>, unknown]>([
    ["UNAUTHORIZED", 401, { authorization: "Bearer svc_wrong" }, undefined],
    ["BAD_WEBHOOK_SECRET", 401, { "x-webhook-secret": "wrong" }, undefined],
    ["BAD_CONTENT_TYPE", 415, { "content-type": "text/plain" }, undefined],
    ["TOO_LARGE", 413, {}, { message: "x".repeat(5000) }],
    ["BAD_JSON", 400, {}, "{"],
    ["BAD_BODY", 400, {}, { message: " " }],
    ["BAD_SESSION_ID", 400, { "x-session-id": "a b" }, undefined],
    ["BAD_IDEMPOTENCY_KEY", 400, { "x-idempotency-key": "a b" }, undefined],
  ])("%s", async (code, status, headers, body) => {
    const { gateway, token } = await started({ webhook: { secret: "s3cret" } });
    const answer = await post(gateway, token, body, { "x-webhook-secret": "s3cret", ...LATER, ...headers });
    expect([answer.status, answer.json.code]).toEqual([status, code]);
    expect(gateway.arrivals).toEqual([]);
  });

  test("a signature is demanded, and its id is good for one request", async () => {
    const { gateway, token } = await started({ webhook: { signing_secret: "whsec_c2VjcmV0" } });
    const { headers, body } = signed("msg-1", '{"message":"hi"}', gateway.clock.now());
    expect((await post(gateway, token, body, LATER)).json.code).toBe("BAD_SIGNATURE");
    const send = () => post(gateway, token, body, { ...LATER, ...(headers as Record<string, string>) });
    expect((await send()).status).toBe(202);
    expect((await send()).json.code).toBe("BAD_SIGNATURE");
    expect(gateway.arrivals).toHaveLength(1);
  });

  test("so does the limit", async () => {
    const { gateway, token } = await started({ config: { webhook_rate_limit_per_minute: 1 } });
    expect((await post(gateway, token, undefined, LATER)).status).toBe(202);
    expect((await post(gateway, token, undefined, LATER)).json.code).toBe("RATE_LIMITED");
  });
});

describe("an idempotency key", () => {
  const KEY = { "x-idempotency-key": "k-1" };

  test("is on disk with the message, so that a repetition of either kind is a duplicate", async () => {
    const { gateway, token } = await started();
    expect((await post(gateway, token, undefined, { ...LATER, ...KEY })).status).toBe(202);
    expect(gateway.kept.size).toBe(1);
    for (const more of [LATER, {}]) {
      const again = await post(gateway, token, undefined, { ...more, ...KEY });
      expect([again.status, again.json.status]).toEqual([200, "duplicate"]);
    }
    expect([gateway.arrivals.length, gateway.turns.length]).toEqual([1, 0]);
  });

  test.each<[string, SvcError, (gateway: Harness, error: SvcError) => void]>([
    [
      "is too much",
      new SvcError("BUSY", undefined, { retryAfterMs: 1500 }),
      (gateway, error) => {
        gateway.accept = () => Promise.reject(error);
      },
    ],
    [
      "can't be kept",
      new SvcError("STORE_FULL"),
      (gateway, error) => {
        gateway.failWrite = error;
      },
    ],
  ])("of a request that %s is new again", async (_, error, fail) => {
    const { gateway, token } = await started();
    const keep = gateway.accept;
    fail(gateway, error);
    const refused = await post(gateway, token, undefined, { ...LATER, ...KEY });
    expect([refused.status, refused.json.code]).toEqual([503, error.code]);
    gateway.accept = keep;
    gateway.failWrite = undefined;
    expect((await post(gateway, token, undefined, { ...LATER, ...KEY })).status).toBe(202);
    expect(gateway.arrivals).toHaveLength(1);
  });

  test("is claimed while the message is being written", async () => {
    const { gateway, token } = await started();
    const keep = gateway.accept;
    const written = Promise.withResolvers<void>();
    gateway.accept = async (arrival): Promise<Arrived> => {
      await written.promise;
      return keep(arrival);
    };
    const first = post(gateway, token, undefined, { ...LATER, ...KEY });
    while (gateway.claimed.size === 0) await new Promise(setImmediate);
    expect((await post(gateway, token, undefined, KEY)).json.status).toBe("duplicate");
    written.resolve();
    expect((await first).status).toBe(202);
  });
});

test("the inbox is told of a client who was shut out", async () => {
  const { gateway, revoke } = await paired();
  expect((await revoke("dev-lost")).status).toBe(200);
  expect(gateway.shutOut).toEqual(["client-lost"]);
  expect((await call(gateway, { path: "/health" })).status).toBe(200);
});

test("whose it is, is read back as it was kept; of the many without a token none sees another's tools", () => {
  const { ofSession } = channelIdentity((clientId) => clientId === "client-ci");
  expect(ofSession("client-ci", "t-1")).toEqual({ owner: "client-ci", clientId: "client-ci", isGone: false });
  expect(ofSession("client-gone", "t-1")).toMatchObject({ owner: "client-gone", isGone: true });
  const [one, other] = [ofSession("anonymous", "t-1"), ofSession("anonymous", "t-2")];
  expect(one).toMatchObject({ owner: "anonymous", isGone: false });
  expect(new Set([one.clientId, other.clientId, "anonymous"]).size).toBe(3);
});

test.each<[string | undefined, boolean]>([
  ["respond-async", true],
  ["Respond-Async", true],
  [" respond-async ;x=1", true],
  ["wait=10, respond-async", true],
  ['foo="a, respond-async", wait=10', false],
  ["return=minimal", false],
  ["respond-async=1x", false],
  ["no-respond-async", false],
  ["respond-asynchronously", false],
  ["", false],
  [undefined, false],
])("Prefer: %j is a wish not to wait: %j", (prefer, isOne) => {
  expect(prefersAsync(prefer === undefined ? {} : { prefer })).toBe(isOne);
});
