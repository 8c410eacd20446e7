// POST /api/channel-events takes no token: whoever gets past "only from this machine" asks people questions in our name.
import { describe, expect, test } from "vitest";
import { type Exchange, localOnly } from "../src/pipeline.ts";
import { Peer } from "../src/client.ts";
import { Harness, type HarnessOptions } from "./harness.ts";
import { type Call, call, codeOf, raw, statusOf, until, Wire } from "./http.ts";

const PATH = "/api/channel-events";
const JSON_TYPE = { "content-type": "application/json" };
const EVENT = { type: "build-done", content: { title: "Build", message: "It is green." }, channels: ["provider_a"] };
const QUESTION = { ...EVENT, type: "human_approval_request", run_id: "run-1", step_id: "deploy" };

const started = (options: HarnessOptions = {}): Promise<Harness> => new Harness().start(options);

const postedTo = (gateway: Harness, body: unknown = EVENT, changed: Call = {}) =>
  call(gateway, {
    method: "POST",
    path: PATH,
    body: typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body),
    ...changed,
    headers: { ...JSON_TYPE, ...changed.headers },
  });

describe("a program on this machine", () => {
  test("posts an event without a token, and is told its id", async () => {
    const gateway = await started();
    gateway.channelEvents.skipped = ["mailpush"];
    const answer = await postedTo(gateway, { ...EVENT, run_id: "r", extra: { deep: [1] } });
    expect([answer.status, answer.json]).toEqual([200, { ok: true, event_id: "boot-1", skipped: ["mailpush"] }]);
    expect(gateway.channelEvents.posted).toEqual([
      {
        type: "build-done",
        title: "Build",
        message: "It is green.",
        channels: ["provider_a"],
        runId: "r",
        stepId: undefined,
        approveKeywords: undefined,
        rejectKeywords: undefined,
        json: JSON.stringify({ ...EVENT, run_id: "r", extra: { deep: [1] } }),
      },
    ]);
  });

  test("asks for an approval, with keywords of any language", async () => {
    const gateway = await started();
    const words = { approve_keywords: ["да", "👍🏽", "ja klar"], reject_keywords: [] };
    expect((await postedTo(gateway, { ...QUESTION, ...words, run_id: "Lauf/ä#1?" })).status).toBe(200);
    expect(gateway.channelEvents.posted[0]).toMatchObject({
      runId: "Lauf/ä#1?",
      stepId: "deploy",
      approveKeywords: ["да", "👍🏽", "ja klar"],
      rejectKeywords: [],
    });
  });

  test("may be a thousand programs at once: each is told of its own event, and none is lost", async () => {
    const gateway = await started();
    const answers = await Promise.all(
      Array.from({ length: 1_000 }, (_, n) => postedTo(gateway, { type: "n", content: { title: `${n}` } })),
    );
    expect(new Set(answers.map(({ json }) => json.event_id)).size).toBe(1_000);
    expect(new Set(gateway.channelEvents.posted.map(({ title }) => title)).size).toBe(1_000);
  });

  test("is told what went wrong behind: 409, 503, 500", async () => {
    const gateway = await started();
    for (const [code, status] of [
      ["APPROVAL_EXISTS", 409],
      ["STORE_FULL", 503],
      ["BAD_REQUEST", 400],
    ] as const) {
      gateway.channelEvents.fails = code;
      const answer = await postedTo(gateway, QUESTION);
      expect([answer.status, answer.json.code]).toEqual([status, code]);
    }
    gateway.channelEvents.unforeseen = new Error("s3cret");
    const answer = await postedTo(gateway);
    expect([answer.status, answer.text.includes("s3cret")]).toEqual([500, false]);
  });

  test("is answered 503 while the service shuts down, also when that begins in the middle of its body", async () => {
    const gateway = await started();
    const body = JSON.stringify(EVENT);
    const wire = new Wire(gateway);
    const head = `POST ${PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
    wire.write(`${head}Content-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`);
    await until(() => gateway.gateway.connections === 1);
    expect((await postedTo(gateway)).status).toBe(200);
    gateway.gateway.drain();
    wire.write(body.slice(5));
    const [late] = await wire.responses(1);
    expect([statusOf(late!), codeOf(late!)]).toEqual([503, "DRAINING"]);
    expect((await postedTo(gateway)).status).toBe(503);
    expect(gateway.channelEvents.posted).toHaveLength(1);
  });
});

describe("nobody else gets in", () => {
  const refusedAs = async (headers: Readonly<Record<string, string>>, options: HarnessOptions = {}) => {
    const gateway = await started(options);
    // Nothing about the request is looked at before it is known to be local: this one is wrong in every other way too.
    const answer = await call(gateway, { method: "POST", path: PATH, headers, body: Buffer.alloc(100, 0xff) });
    expect(gateway.channelEvents.posted).toEqual([]);
    return [answer.status, answer.json.code];
  };

  test.each([
    "x-forwarded-for",
    "forwarded",
    "x-real-ip",
    "via",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-forwarded-port",
    "x-forwarded-server",
    "x-client-ip",
    "x-cluster-client-ip",
    "true-client-ip",
    "cf-connecting-ip",
    "x-envoy-external-address",
    "x-original-forwarded-for",
    "x-forwarded",
    "forwarded-for",
    "forwardedfor",
    "x-original-host",
    "x-original-url",
    "x-real-port",
    "cf-ray",
    "cdn-loop",
    "fastly-client-ip",
    "x-azure-clientip",
    "fly-client-ip",
    "x-amzn-trace-id",
    "cloudfront-viewer-address",
    "x-cloud-trace-context",
    "tailscale-user-login",
    "ngrok-skip-browser-warning",
    "x-vercel-id",
    "x-nf-client-connection-ip",
    "x-request-start",
    "x-sucuri-clientip",
    "incap-client-ip",
    "akamai-origin-hop",
    "x-varnish",
  ])("whom a proxy has passed on (%s), whatever it says and whether it is trusted", async (name) => {
    for (const value of ["203.0.113.9", "127.0.0.1", "::1", ""]) {
      expect(await refusedAs({ [name]: value })).toEqual([403, "NOT_LOCAL"]);
    }
    expect(await refusedAs({ [name.toUpperCase()]: "127.0.0.1" })).toEqual([403, "NOT_LOCAL"]);
    const trusted = { config: { trust_forwarded_headers: true } };
    expect(await refusedAs({ [name]: "127.0.0.1" }, trusted)).toEqual([403, "NOT_LOCAL"]);
  });

  test("but headers that programs of this machine send are no sign of a proxy", async () => {
    const gateway = await started();
    const headers = {
      "x-request-id": "1",
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      tracestate: "a=b",
      "x-correlation-id": "1",
      "x-b3-traceid": "1",
      "x-custom": "1",
      "x-": "1",
      x: "1",
      "cfx-ray": "1",
      "client-name": "a",
      "x-api-key": "1",
      "user-agent": "curl/8",
      accept: "*/*",
      __proto__: "1",
    };
    expect((await postedTo(gateway, EVENT, { headers })).status).toBe(200);
  });

  test.each(["null", "https://evil.example", "http://localhost:1", "http://localhost@evil.example", "file://", "x"])(
    "a page of another place: Origin %s",
    async (origin) => expect(await refusedAs({ origin, ...JSON_TYPE })).toEqual([403, "BAD_ORIGIN"]),
  );

  test.each(["evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "localhost:80@evil.example", "127.1"])(
    "a name that leads here by DNS rebinding: Host %s",
    async (host) => expect(await refusedAs({ host, ...JSON_TYPE })).toEqual([403, "BAD_HOST"]),
  );

  test("its own page, by its own names, is local; so is IPv4 inside IPv6", async () => {
    const gateway = await started({ config: { host: "::", allow_public_bind: true } });
    for (const host of ["127.0.0.1", "localhost", "[::1]"]) {
      const origin = `http://${host}:${gateway.port}`;
      expect((await postedTo(gateway, EVENT, { headers: { host: `${host}:${gateway.port}`, origin } })).status).toBe(
        200,
      );
    }
    expect(gateway.channelEvents.posted).toHaveLength(3);
  });

  test.each(["192.168.1.2", "10.0.0.1", "::ffff:10.0.0.1", "fe80::1", "0.0.0.0", "::", undefined, "128.0.0.1"])(
    "another machine: %s",
    (address) => {
      const check = localOnly({ allowsOrigin: () => true });
      const from = (peer: Peer) => check({ incoming: { headers: JSON_TYPE }, peer } as unknown as Exchange);
      expect(from(new Peer(address))?.status).toBe(403);
      expect(from(new Peer("127.9.9.9"))).toBeUndefined();
      expect(from(new Peer("::ffff:127.0.0.1"))).toBeUndefined();
    },
  );

  test("no other spelling of the path leads there, and no other method", async () => {
    const gateway = await started();
    const token = new Harness().device();
    for (const path of [
      `${PATH}/`,
      "/api/channel%2Devents",
      "/api//channel-events",
      "/API/channel-events",
      `/x/..${PATH}`,
    ])
      expect([path, (await postedTo(gateway, EVENT, { path })).status]).toEqual([path, 404]);
    for (const method of ["GET", "HEAD", "PUT", "DELETE", "PATCH"]) {
      const answer = await call(gateway, { method, path: PATH, headers: { authorization: `Bearer ${token}` } });
      expect([answer.status, answer.headers["allow"]]).toEqual([405, "POST"]);
    }
    const options = await call(gateway, {
      method: "OPTIONS",
      path: PATH,
      headers: { origin: `http://localhost:${gateway.port}` },
    });
    expect([options.status, options.headers["access-control-allow-origin"]]).toEqual([204, undefined]);
    expect(gateway.channelEvents.posted).toEqual([]);
  });

  test("an absolute target counts as its Host, and two Hosts as none", async () => {
    const gateway = await started();
    const body = JSON.stringify(EVENT);
    const rest = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`;
    const absolute = await raw(gateway, `POST http://evil.example${PATH} HTTP/1.1\r\nHost: localhost\r\n${rest}`);
    expect([statusOf(absolute), codeOf(absolute)]).toEqual([403, "BAD_HOST"]);
    const two = await raw(gateway, `POST ${PATH} HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n${rest}`);
    expect(statusOf(two)).toBe(400);
    expect(gateway.channelEvents.posted).toEqual([]);
  });
});

describe("what is wrong is said in this order", () => {
  test("local, content type, size, JSON, fields", async () => {
    const gateway = await started();
    const big = Buffer.alloc(5_000, 0xff);
    const steps = [
      [{ ...JSON_TYPE, "content-type": "text/plain", via: "x" }, big, "NOT_LOCAL"],
      [{ "content-type": "text/plain" }, big, "BAD_CONTENT_TYPE"],
      [{ ...JSON_TYPE, "content-encoding": "gzip" }, big, "BAD_CONTENT_TYPE"],
      [JSON_TYPE, big, "TOO_LARGE"],
      [JSON_TYPE, Buffer.from([0x22, 0xff, 0x22]), "BAD_JSON"],
      [JSON_TYPE, "", "BAD_JSON"],
      [JSON_TYPE, '{"type":"x"', "BAD_JSON"],
      [JSON_TYPE, `{"type":"x","deep":${"[".repeat(200)}${"]".repeat(200)}}`, "BAD_JSON"],
      [JSON_TYPE, "[]", "BAD_REQUEST"],
    ] as const;
    for (const [headers, body, code] of steps) {
      const answer = await call(gateway, { method: "POST", path: PATH, headers, body: body as Buffer });
      expect(answer.json.code).toBe(code);
    }
    const chunked = await call(gateway, {
      method: "POST",
      path: PATH,
      headers: { ...JSON_TYPE, "transfer-encoding": "chunked" },
      body: big,
    });
    expect(chunked.status).toBe(413);
    expect(gateway.channelEvents.posted).toEqual([]);
  });
});
