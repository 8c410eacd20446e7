// The public paths of channels: 200 is said only of what is on disk, nothing unproven is read, and no broken channel, wrong
// set-up or full disk loses a message or tells a stranger anything.
import { type ErrorCode, type Ingress, type RawRequest, SvcError } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { channelWith, delivery, PATH, type Sent, sign } from "./channel.ts";
import { Harness, type HarnessOptions } from "./harness.ts";
import { type Answer, type Call, call } from "./http.ts";

const OK = { status: "ok" };

async function started(ingress: Partial<Ingress> = {}, options: HarnessOptions = {}) {
  const gateway = await new Harness().start({ ingress: [channelWith(ingress)], ...options });
  const send = (sent?: Parameters<typeof delivery>[0], changed?: Call) => call(gateway, delivery(sent, changed));
  return { gateway, send };
}

const told = ({ status, json }: Answer) => [status, json?.code];

describe("a delivery", () => {
  test("is answered 200 with exactly what platforms expect, once it is kept", async () => {
    const { gateway, send } = await started();
    let keep = () => {};
    const kept = new Promise<void>((resolve) => (keep = resolve));
    gateway.accept = async () => (await kept, { state: "kept", messages: [{ n: 1, turnId: "t" }] });
    let isAnswered = false;
    const answer = send({ id: "m1", text: "hi" }).then((given) => ((isAnswered = true), given));
    await call(gateway, { path: "/health" });
    expect(isAnswered).toBe(false);
    keep();
    expect(await answer).toMatchObject({ status: 200, json: OK, text: '{"status":"ok"}' });
    expect(gateway.arrivals).toHaveLength(1);
  });

  test("needs no Host of ours, no bearer, no content type, and is not limited", async () => {
    const { gateway, send } = await started({}, { config: { webhook_rate_limit_per_minute: 1 } });
    const headers = { host: "anything.example", origin: "https://evil.example", authorization: "Bearer x" };
    for (let count = 0; count < 20; count += 1) expect((await send(undefined, { headers })).status).toBe(200);
    expect(gateway.arrivals).toHaveLength(20);
  });

  test("without a message for us is answered 200, and nothing is kept", async () => {
    const { gateway, send } = await started();
    for (const body of ["{}", "[]", '{"text":null,"x":{}}']) expect((await send(body)).status).toBe(200);
    expect(gateway.arrivals.flatMap(({ messages }) => messages)).toEqual([]);
  });

  test("may be answered with what the channel wants", async () => {
    const reply = { status: 202, contentType: "text/xml", body: "<ok>ž</ok>" };
    const { send } = await started({ parse: () => ({ reply }) });
    const answer = await send();
    expect([answer.status, answer.headers["content-type"], answer.text]).toEqual([202, "text/xml", "<ok>ž</ok>"]);
    expect(answer.headers["x-content-type-options"]).toBe("nosniff");
  });

  test("is handed over as it came: bytes, query, the first of two headers, the time", async () => {
    const seen: RawRequest[] = [];
    const { gateway } = await started({ verify: (request) => (seen.push(request), { ok: true }), parse: () => ({}) });
    const body = Buffer.from([0, 0xff, 0x0a, 0xc3]);
    const headers = { host: "x.example", "X-Two": ["a", "b"], __proto__: "p", "X-Latin": "\u00e9" };
    await call(gateway, { method: "POST", path: `${PATH}?token=a%20b&token=c`, headers, body });
    const [request] = seen;
    expect([request!.method, request!.receivedAtMs]).toEqual(["POST", gateway.clock.now()]);
    expect(Buffer.from(request!.body).equals(body)).toBe(true);
    expect(request!.query.getAll("token")).toEqual(["a b", "c"]);
    expect([request!.headers["x-two"], request!.headers["x-none"]]).toEqual(["a", undefined]);
    expect(request!.headers["constructor"]).toBeUndefined();
  });
});

describe("a delivery that is not proven", () => {
  test("is 401 in our shape, is neither parsed nor kept, and says nothing of why", async () => {
    let parsed = 0;
    const { gateway, send } = await started({ parse: () => ((parsed += 1), {}) });
    for (const signature of ["", "x", sign("other")]) {
      const answer = await send({ text: "hi" }, { headers: { "x-signature": signature } });
      expect([answer.status, answer.json]).toEqual([
        401,
        { error: "A valid signature is required.", code: "BAD_SIGNATURE" },
      ]);
    }
    expect([parsed, gateway.arrivals]).toEqual([0, []]);
  });

  test.each<[ErrorCode, number, string]>([
    ["BAD_SIGNATURE", 401, "A valid signature is required."],
    ["UNAUTHORIZED", 401, "Unauthorized"],
    ["BAD_VERIFY_TOKEN", 403, "The verify token is wrong."],
  ])("of code %s is %i", async (code, status, error) => {
    const { send } = await started({ verify: () => ({ ok: false, code, why: "why" }) });
    const answer = await send();
    expect([answer.status, answer.json]).toEqual([status, { error, code }]);
  });

  test("fills no disk: one line a minute for each path, with how many there were, and nothing that was received", async () => {
    const { gateway, send } = await started();
    const forged = () => send("s3cret-in-a-body", { headers: { "x-signature": "forged-with-care" } });
    for (let count = 0; count < 60; count += 1) await forged();
    const fields = { channel: "provider_a", path: PATH, code: "BAD_SIGNATURE", why: expect.any(String) };
    expect(gateway.log.lines).toMatchObject([{ level: "info" }, { level: "warn", fields: { ...fields, times: 1 } }]);
    await gateway.clock.advance(60_000);
    await forged();
    expect(gateway.log.lines.slice(2)).toMatchObject([{ level: "warn", fields: { ...fields, times: 60 } }]);
    expect(gateway.log.text()).not.toMatch(/s3cret|forged-with/);
  });

  test("is refused where nothing can be proven and gateway.require_signatures is on; a handshake goes on", async () => {
    const config = { require_signatures: true };
    const { gateway, send } = await started({ signed: false, verify: () => ({ ok: true }) }, { config });
    expect(told(await send())).toEqual([401, "BAD_SIGNATURE"]);
    expect((await call(gateway, { path: `${PATH}?challenge=c` })).text).toBe("c");
    const signed = await started({}, { config });
    expect((await signed.send()).status).toBe(200);
    const trusting = await started({ signed: false });
    expect((await trusting.send()).status).toBe(200);
  });

  test("because its single-use key was used before is 401, and so it is without a signature check of ours", async () => {
    const { gateway, send } = await started();
    await send({ text: "hi", once: "random-1" });
    expect(gateway.arrivals[0]).toMatchObject({ once: "random-1" });
    gateway.accept = () => Promise.resolve({ state: "replayed" });
    expect(told(await send({ text: "hi", once: "random-1" }))).toEqual([401, "BAD_SIGNATURE"]);
    expect(gateway.log.text()).not.toContain("random-1");
  });
});

describe("a delivery that can't be read", () => {
  const BODIES: readonly [string, string | Buffer][] = [
    ["nothing", ""],
    ["half of an object", '{"text":'],
    ["a byte that is no UTF-8", Buffer.from('{"text":"\xe9"}', "latin1")],
    ["UTF-16", Buffer.from('{"text":"hi"}', "utf16le")],
    ["nesting without end", "[".repeat(2000) + "]".repeat(2000)],
  ];
  test.each(BODIES)("%s is 400", async (_name, body) => {
    const { gateway, send } = await started();
    expect(told(await send(body))).toEqual([400, "BAD_JSON"]);
    expect(gateway.arrivals).toEqual([]);
  });

  const broken = (): never => {
    throw new TypeError("s3cret-body is not iterable");
  };
  test.each<[string, Partial<Ingress>]>([
    ["verify throws", { verify: broken }],
    ["verify throws a code of its own", { verify: () => refuse("BAD_JSON", "s3cret-body") }],
    ["verify returns nothing", { verify: (() => undefined) as never }],
    ["parse throws", { parse: broken }],
    ["parse throws no error", { parse: () => refuseWith("s3cret-body") }],
    ["parse throws a code that is not its to throw", { parse: () => refuse("NOT_FOUND", "s3cret-body") }],
    ["parse returns nothing", { parse: (() => undefined) as never }],
    ["parse returns half a message", { parse: () => ({ inbound: [{ text: "hi" } as never] }) }],
    ["verify is asynchronous", { verify: (() => Promise.reject(new Error("s3cret-body"))) as never }],
    ["parse is asynchronous", { parse: (() => Promise.reject(new Error("s3cret-body"))) as never }],
    [
      "the reply can't be sent",
      { parse: () => ({ reply: { status: 200, contentType: "a\nb", body: "s3cret-body" } }) },
    ],
    ["the reply is none", { parse: () => ({ reply: { status: 200, contentType: "a/b" } as never }) }],
  ])("because %s is no reason to go down", async (_what, ingress) => {
    const { gateway, send } = await started(ingress);
    const answer = await send();
    expect([told(answer), gateway.arrivals]).toEqual([[500, "INTERNAL"], []]);
    expect(answer.text + gateway.log.text()).not.toContain("s3cret-body");
    expect(gateway.log.lines.filter(({ level }) => level === "warn")).toHaveLength(1);
    for (let count = 0; count < 100; count += 1) await send();
    expect(gateway.log.lines.filter(({ level }) => level === "warn")).toHaveLength(1);
    expect((await call(gateway, { path: "/health" })).status).toBe(200);
  });
});

describe("what can't be kept", () => {
  const FAILURES: readonly [ErrorCode, number][] = [
    ["STORE_FULL", 503],
    ["STORE_FAILED", 503],
    ["BUSY", 503],
  ];
  test.each(FAILURES)("because of %s is %i, so that the platform tries again", async (code, status) => {
    const { gateway, send } = await started();
    gateway.accept = () => Promise.reject(new SvcError(code, undefined, { retryAfterMs: 2_500 }));
    const answer = await send();
    expect([told(answer), answer.headers["retry-after"]]).toEqual([[status, code], "3"]);
    await send();
    expect(gateway.log.lines.filter(({ level }) => level === "warn")).toHaveLength(1);
  });

  test("for a reason nobody foresaw is 500 and tells nothing", async () => {
    const { gateway, send } = await started();
    gateway.accept = () => Promise.reject(new Error("s3cret"));
    const answer = await send();
    expect(told(answer)).toEqual([500, "INTERNAL"]);
    expect(answer.text + gateway.log.text()).not.toContain("s3cret");
  });
});

describe("a message that says it is old", () => {
  const DAY = 86_400_000;
  test("is acknowledged and dropped with a line in the log, and the others of its delivery are kept", async () => {
    const { gateway, send } = await started({ maxAgeMs: 8 * DAY });
    const at = (ageMs: number): Sent => ({ text: "hi", at: gateway.clock.now() - ageMs });
    expect((await send(at(8 * DAY))).status).toBe(200);
    expect((await send(at(-DAY))).status).toBe(200);
    expect(gateway.arrivals).toHaveLength(2);
    for (let count = 0; count < 50; count += 1) expect((await send(at(8 * DAY + 1))).json).toEqual(OK);
    expect(gateway.arrivals).toHaveLength(2);
    expect(gateway.log.lines.filter(({ level }) => level === "warn")).toMatchObject([{ fields: { times: 1 } }]);
  });

  test("keeps its neighbours, and what tells no time", async () => {
    const message = (text: string, sentAtMs?: number) => ({
      conversation: { channel: "provider_a", id: "c" },
      sender: "s",
      text,
      ...(sentAtMs !== undefined && { sentAtMs }),
    });
    const inbound = [message("old", 0), message("new", Number.MAX_SAFE_INTEGER), message("any"), message("odd", NaN)];
    const { gateway, send } = await started({ maxAgeMs: 1, parse: () => ({ inbound }) });
    await send();
    expect(gateway.arrivals[0]!.messages.map(({ body }) => (body as any).text)).toEqual(["new", "any", "odd"]);
  });
});

describe("a handshake", () => {
  test("is answered with what the channel says, and nothing is kept", async () => {
    const { gateway } = await started();
    const ask = (query: string) => call(gateway, { path: `${PATH}?${query}`, headers: { host: "x.example" } });
    const answer = await ask("token=t0ken&challenge=1158201444");
    expect([answer.status, answer.text]).toEqual([200, "1158201444"]);
    expect(answer.headers["content-type"]).toBe("text/plain; charset=utf-8");
    expect(told(await ask("token=wrong&challenge=1"))).toEqual([403, "BAD_VERIFY_TOKEN"]);
    expect((await ask("token=t0ken")).json).toEqual({ error: "The challenge is missing.", code: "BAD_REQUEST" });
    expect(gateway.arrivals).toEqual([]);
  });

  test("has no body: one that comes with it is not looked at", async () => {
    const { gateway } = await started();
    const body = "x".repeat(5000);
    const headers = { "content-length": `${body.length}` };
    const answer = await call(gateway, { path: `${PATH}?token=t0ken&challenge=c`, headers, body });
    expect([answer.status, answer.text]).toEqual([200, "c"]);
  });
});

function refuse(code: ErrorCode, message: string): never {
  throw new SvcError(code, message);
}

function refuseWith(thrown: string): never {
  throw thrown as unknown as Error;
}
