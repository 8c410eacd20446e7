// A phone is told that an approval is waiting while no page is open. Who may be told, what stands in it, where it goes and
// when it ends is checked against a push service that opens each message as the browser would.
import { SvcError, type SvcEvent } from "@svc/contract";
import { createEventHub } from "@svc/runtime";
import { describe, expect, test } from "vitest";
import { type BrowserKeys, decryptPush, makeBrowserKeys, subscriptionOf } from "@svc/testkit/web-push";
import type { Harness } from "./harness.ts";
import { type Answer, call } from "./http.ts";
import { type SignedIn, signIn, started } from "./sign-in.ts";

const request = (
  { clock }: Harness,
  n: number,
  { title = "Run rm -rf build?", endsInMs = 3_600_000 } = {},
): SvcEvent => ({
  type: "human_approval_request",
  runId: `run-${n}`,
  stepId: "step-1",
  origin: "tool",
  title,
  message: "the whole command",
  channels: [],
  approveKeywords: ["yes"],
  rejectKeywords: ["no"],
  expiresAtMs: clock.now() + endsInMs,
});

const push = (to: Harness, page: Pick<SignedIn, "headers">, method = "GET", body?: object, path = "/api/push") =>
  call(to, {
    method,
    path,
    headers: { ...page.headers, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });

async function subscribed(options: { readonly details?: boolean } = {}) {
  const { gateway, tokens } = await started();
  const page = await signIn(gateway, tokens.operator);
  const browser = makeBrowserKeys();
  const answer = await push(gateway, page, "PUT", { ...subscriptionOf(browser), ...options });
  expect(answer.status).toBe(200);
  return { gateway, tokens, page, browser, service: gateway.pushService };
}

const opened = ({ pushed }: Harness["pushService"], browser: BrowserKeys) =>
  pushed.map(({ body }) => JSON.parse(decryptPush(body, browser)) as Record<string, unknown>);

/** Until what was published has been acted on. */
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

const state = (answer: Answer) => answer.json.subscription;

describe("a page asks for push messages", () => {
  test("off at first, on when it subscribes, off again; the sender's key stays", async () => {
    const { gateway, page } = await subscribed();
    const on = await push(gateway, page);
    expect(state(on)).toEqual({ created_at: expect.any(String), details: false, last_sent_at: null, last_error: null });
    expect(on.json.public_key).toMatch(/^B[\w-]{86}$/);
    expect(on.text).not.toContain("push.example");
    const off = await push(gateway, page, "DELETE");
    expect([off.json.subscription, off.json.public_key]).toEqual([null, on.json.public_key]);
    expect(await gateway.pushSecrets.list()).toEqual(["vapid"]);
  });

  test("a token, a page of scope read and a page without its second secret are refused", async () => {
    const { gateway, tokens, page } = await subscribed();
    const reader = await signIn(gateway, tokens.read);
    const bearer = { headers: { authorization: `Bearer ${tokens.operator}` } };
    const { cookie } = page.headers;
    for (const [who, status] of [
      [bearer, 403],
      [reader, 403],
      [{ headers: { cookie: cookie! } }, 401],
    ] as const) {
      expect((await push(gateway, who)).status).toBe(status);
      expect((await push(gateway, who, "PUT", subscriptionOf(makeBrowserKeys()))).status).toBe(status);
      expect((await push(gateway, who, "DELETE")).status).toBe(status);
      expect((await push(gateway, who, "POST", undefined, "/api/push/test")).status).toBe(status);
    }
  });

  test.each([
    "http://push.example/1",
    "https://user:secret@push.example/1",
    "https://push.example/1#fragment",
    "javascript:alert(1)",
    "file:///etc/passwd",
    "https://push.example/\r\nX-Evil: 1",
    "https:\\\\push.example\\1",
    ` https://push.example/1`,
    `https://push.example/${"x".repeat(1100)}`,
    "",
  ])("the endpoint %j is refused", async (endpoint) => {
    const { gateway, tokens } = await started();
    const page = await signIn(gateway, tokens.operator);
    const answer = await push(gateway, page, "PUT", subscriptionOf(makeBrowserKeys(), endpoint));
    expect([answer.status, answer.json.code]).toEqual([400, "BAD_REQUEST"]);
    expect(await gateway.pushSecrets.list("subscription/")).toEqual([]);
  });

  test("an endpoint of a private address and keys that are none are refused", async () => {
    const { gateway, tokens } = await started();
    const page = await signIn(gateway, tokens.operator);
    gateway.pushService.unresolved = new SvcError("ADDRESS_REFUSED");
    const inside = await push(gateway, page, "PUT", subscriptionOf(makeBrowserKeys(), "https://169.254.169.254/"));
    expect(inside.json.code).toBe("ADDRESS_REFUSED");
    const { endpoint, keys } = subscriptionOf(makeBrowserKeys());
    for (const bad of [
      { ...keys, p256dh: Buffer.alloc(65, 4).toString("base64url") },
      { ...keys, auth: "AAAA" },
      { ...keys, p256dh: "x".repeat(4000) },
    ]) {
      expect((await push(gateway, page, "PUT", { endpoint, keys: bad })).status).toBe(400);
    }
    expect(await gateway.pushSecrets.list("subscription/")).toEqual([]);
  });
});

describe("an approval is asked for", () => {
  test("the browser gets a tag and no word of it", async () => {
    const { gateway, browser, service } = await subscribed();
    gateway.hub.publish(request(gateway, 1));
    await service.got(1);
    expect(opened(service, browser)).toEqual([{ tag: "run-1 step-1" }]);
    const [{ url, headers }] = service.pushed as [(typeof service.pushed)[number]];
    expect(url).toBe("https://push.example/send/1");
    expect(headers).toMatchObject({
      "content-encoding": "aes128gcm",
      urgency: "high",
      ttl: "3600",
      topic: expect.stringMatching(/^[\w-]{32}$/),
      authorization: expect.stringMatching(/^vapid t=[\w-]+\.[\w-]+\.[\w-]+, k=B[\w-]{86}$/),
    });
  });

  test("its title only where the page asked for it, shortened, and without secrets", async () => {
    const { gateway, tokens } = await started();
    const page = await signIn(gateway, tokens.operator);
    const browser = makeBrowserKeys();
    await push(gateway, page, "PUT", { ...subscriptionOf(browser), details: true });
    gateway.hub.publish(request(gateway, 1, { title: `Run ${"x".repeat(5000)}` }));
    await gateway.pushService.got(1);
    expect(opened(gateway.pushService, browser)).toEqual([{ tag: "run-1 step-1", details: `Run ${"x".repeat(296)}` }]);
  });

  test("other events send nothing, and without a subscription nobody listens", async () => {
    const { gateway, page, service } = await subscribed();
    gateway.hub.publish({ ...(request(gateway, 1) as object), type: "human_approval_resolved" } as never);
    await settled();
    expect([service.pushed.length, gateway.hub.subscribers]).toEqual([0, 1]);
    await push(gateway, page, "DELETE");
    expect(gateway.hub.subscribers).toBe(0);
  });

  test("a thousand at once while one is being sent become one more", async () => {
    const { gateway, browser, service } = await subscribed();
    for (let n = 0; n < 1000; n += 1) gateway.hub.publish(request(gateway, n));
    await service.got(2);
    await settled();
    expect(opened(service, browser).map(({ tag }) => tag)).toEqual(["run-0 step-1", "run-999 step-1"]);
  });
});

describe("the push service", () => {
  test.each([404, 410])("answers %i: the subscription is gone, here too", async (status) => {
    const { gateway, page, service } = await subscribed();
    service.answers = [status];
    gateway.hub.publish(request(gateway, 1));
    await service.got(1);
    await expect.poll(async () => state(await push(gateway, page))).toBe(null);
    expect(await gateway.pushSecrets.list("subscription/")).toEqual([]);
    gateway.hub.publish(request(gateway, 2));
    await settled();
    expect(service.pushed).toHaveLength(1);
  });

  test("is overloaded: it is asked again when it says, and the page is told meanwhile", async () => {
    const { gateway, page, service, browser } = await subscribed();
    service.answers = [{ status: 429, headers: { "retry-after": "120" } }, new SvcError("REMOTE_TIMEOUT"), 201];
    gateway.hub.publish(request(gateway, 1));
    await service.got(1);
    await settled();
    expect(state(await push(gateway, page)).last_error).toMatchObject({ message: "The push service answered 429." });
    await gateway.clock.advance(119_000);
    expect(service.pushed).toHaveLength(1);
    // A tenth of what it asks for is jitter.
    await gateway.clock.advance(13_000);
    await service.got(2);
    await settled();
    await gateway.clock.advance(4_000);
    await service.got(3);
    await settled();
    expect(state(await push(gateway, page))).toMatchObject({ last_error: null, last_sent_at: expect.any(String) });
    expect(new Set(opened(service, browser).map(({ tag }) => tag)).size).toBe(1);
  });

  test("refuses the message: not asked again, the page is told, and the log has no endpoint", async () => {
    const { gateway, page, service } = await subscribed();
    service.answers = [403];
    gateway.hub.publish(request(gateway, 1));
    await service.got(1);
    await settled();
    await gateway.clock.advance(3_600_000);
    expect(service.pushed).toHaveLength(1);
    expect(state(await push(gateway, page)).last_error).toMatchObject({ message: "The push service answered 403." });
    expect(JSON.stringify(gateway.log.lines)).not.toContain("send/1");
  });

  test("is down until the approval is over: no more tries", async () => {
    const { gateway, service } = await subscribed();
    service.answers = Array.from({ length: 20 }, () => new SvcError("REMOTE_UNREACHABLE"));
    gateway.hub.publish(request(gateway, 1, { endsInMs: 10_000 }));
    await service.got(1);
    await settled();
    for (let second = 0; second < 10; second += 1) {
      await gateway.clock.advance(1_000);
      await settled();
    }
    const tries = service.pushed.length;
    expect(tries).toBeGreaterThanOrEqual(2);
    await gateway.clock.advance(3_600_000);
    await settled();
    expect(service.pushed).toHaveLength(tries);
  });

  test("is tried by hand, and what it says is told", async () => {
    const { gateway, page, service, browser } = await subscribed();
    expect((await push(gateway, page, "POST", undefined, "/api/push/test")).status).toBe(200);
    expect(opened(service, browser)).toEqual([{ tag: "test" }]);
    service.answers = [new SvcError("ADDRESS_REFUSED")];
    const refused = await push(gateway, page, "POST", undefined, "/api/push/test");
    expect([refused.json.code, refused.json.error]).toEqual([
      "PUSH_FAILED",
      "The push service has a private address, and such addresses are refused.",
    ]);
  });
});

describe("the subscription ends", () => {
  const ends: readonly (readonly [string, (to: Harness, page: SignedIn) => Promise<unknown>])[] = [
    [
      "when the page signs out",
      (to, page) => call(to, { method: "DELETE", path: "/api/session", headers: page.headers }),
    ],
    ["when its device is revoked", (to) => to.gateway.devices.revoke("dev-operator")],
    ["when nobody used the page for ninety days", (to) => to.clock.advance(91 * 86_400_000)],
  ];

  test.each(ends)("%s", async (_when, end) => {
    const { gateway, page, service } = await subscribed();
    await end(gateway, page);
    await settled();
    gateway.hub.publish(request(gateway, 1));
    await settled();
    expect(service.pushed).toHaveLength(0);
    expect(await gateway.pushSecrets.list("subscription/")).toEqual([]);
  });

  test("while a message waits to be tried again: that one is not sent any more", async () => {
    const { gateway, page, service } = await subscribed();
    service.answers = [500];
    gateway.hub.publish(request(gateway, 1));
    await service.got(1);
    await settled();
    await call(gateway, { method: "DELETE", path: "/api/session", headers: page.headers });
    await gateway.clock.advance(3_600_000);
    expect(service.pushed).toHaveLength(1);
  });

  test("not with a restart; what belongs to no sign-in is removed then", async () => {
    const { gateway, browser, service } = await subscribed();
    const kept = subscriptionOf(makeBrowserKeys(), "https://push.example/stale");
    await gateway.pushSecrets.set("subscription/nobody", JSON.stringify({ ...kept, details: true, createdAtMs: 0 }));
    await gateway.gateway.close(0);
    gateway.hub = createEventHub({ clock: gateway.clock, boot: "boot-2" });
    await gateway.start();
    await expect.poll(() => gateway.pushSecrets.list("subscription/nobody")).toEqual([]);
    gateway.hub.publish(request(gateway, 1));
    await service.got(1);
    expect(opened(service, browser)).toEqual([{ tag: "run-1 step-1" }]);
  });

  test("the same browser under another sign-in gets each message once", async () => {
    const { gateway, tokens, browser, service } = await subscribed();
    const other = await signIn(gateway, tokens.operator);
    await push(gateway, other, "PUT", subscriptionOf(browser));
    gateway.hub.publish(request(gateway, 1));
    await service.got(1);
    await settled();
    expect(service.pushed).toHaveLength(1);
  });
});
