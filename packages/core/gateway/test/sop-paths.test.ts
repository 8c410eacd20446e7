// A path that a procedure's file names is open to the internet: it needs every lock that /webhook has, and must hide no route.
import type { Dispatched } from "@svc/sop";
import { SvcError } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { Harness, route } from "./harness.ts";
import { type Call, call, statusOf, tick, until, Wire } from "./http.ts";
import { channelWith } from "./channel.ts";
import { signed } from "./signed.ts";

const PATH = "/sop/deploy";
const STARTED: Dispatched = {
  runs: [{ sop: "deploy", runId: "run-1" }],
  skipped: [{ sop: "report", reason: "It cools down." }],
};

class Fixture extends Harness {
  readonly token = this.device("webhook");

  constructor() {
    super();
    this.sops.paths.set(PATH, STARTED);
  }

  post(changed: Call = {}) {
    return call(this, {
      method: "POST",
      path: PATH,
      body: '{"ref":"main"}',
      ...changed,
      headers: { "content-type": "application/json", authorization: `Bearer ${this.token}`, ...changed.headers },
    });
  }
}

const key = (value: string) => ({ headers: { "x-idempotency-key": value } });

describe("a request to a procedure's path", () => {
  test("starts what it fits, and is told what was started and what was not", async () => {
    const fixture = await new Fixture().start();
    const answer = await fixture.post();
    expect([answer.status, answer.json]).toEqual([
      202,
      { runs: [{ sop: "deploy", run_id: "run-1" }], skipped: [{ sop: "report", reason: "It cools down." }] },
    ]);
    const by = `webhook ${PATH}, device webhook`;
    expect(fixture.sops.started).toEqual([{ source: "webhook", topic: PATH, payload: '{"ref":"main"}', by }]);
    expect([fixture.sops.committed, fixture.turns]).toEqual([1, []]);
  });

  test("is 202 also when everything was skipped, and with a query", async () => {
    const fixture = await new Fixture().start();
    fixture.sops.paths.set(PATH, { runs: [], skipped: [] });
    const answer = await fixture.post({ path: `${PATH}?x=1` });
    expect([answer.status, answer.json]).toEqual([202, { runs: [], skipped: [] }]);
    expect(fixture.sops.started[0]?.topic).toBe(PATH);
  });

  test("takes any JSON", async () => {
    const fixture = await new Fixture().start();
    for (const body of ["5", "null", '"x"', "[]", ' {"a":1,"a":2} '])
      expect((await fixture.post({ body })).status).toBe(202);
    expect(fixture.sops.started.map(({ payload }) => payload)).toEqual(["5", "null", '"x"', "[]", ' {"a":1,"a":2} ']);
  });

  test("is POST; everything else is 405 for whoever asks, and 404 once no procedure has the path", async () => {
    const fixture = await new Fixture().start();
    for (const method of ["GET", "HEAD", "PUT", "DELETE", "PATCH"]) {
      const answer = await call(fixture, { method, path: PATH });
      expect([method, answer.status, answer.headers["allow"]]).toEqual([method, 405, "POST"]);
    }
    expect((await call(fixture, { method: "OPTIONS", path: PATH })).headers["allow"]).toBe("POST");
    fixture.sops.paths.clear();
    expect((await fixture.post()).status).toBe(404);
    expect((await call(fixture, { path: PATH })).status).toBe(404);
    fixture.sops.paths.set(PATH, STARTED);
    expect((await fixture.post()).status).toBe(202);
  });

  test("is 503 while the service shuts down, and is not started when the disk is full", async () => {
    const fixture = await new Fixture().start();
    fixture.failWrite = new SvcError("STORE_FULL");
    expect((await fixture.post(key("k"))).json.code).toBe("STORE_FULL");
    fixture.failWrite = undefined;
    expect((await fixture.post(key("k"))).status).toBe(202);
    fixture.gateway.drain();
    expect((await fixture.post()).status).toBe(503);
    expect(fixture.sops.started).toHaveLength(1);
  });

  test("tells nothing of what is wrong inside", async () => {
    const fixture = await new Fixture().start();
    fixture.sops.fails = new Error("s3cret");
    const answer = await fixture.post(key("k"));
    expect([answer.status, answer.text.includes("s3cret")]).toEqual([500, false]);
    fixture.sops.fails = undefined;
    expect((await fixture.post(key("k"))).status).toBe(202);
  });
});

describe("sent again with the same key", () => {
  test("it is answered as a duplicate, and starts nothing: at the same time, later, and whatever is in it", async () => {
    const fixture = await new Fixture().start();
    const answers = await Promise.all([fixture.post(key("k")), fixture.post(key("k")), fixture.post(key("k"))]);
    answers.push(await fixture.post({ ...key("k"), body: "[]" }));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 202]);
    expect(answers.find(({ status }) => status === 200)?.json).toMatchObject({ status: "duplicate", idempotent: true });
    expect([fixture.sops.started.length, [...fixture.kept]]).toEqual([1, [`client-webhook ${PATH} k`]]);
  });

  test("to another path, or to /webhook, it is another request", async () => {
    const fixture = await new Fixture().start();
    fixture.sops.paths.set("/sop/report", STARTED);
    expect((await fixture.post(key("k"))).status).toBe(202);
    expect((await fixture.post({ ...key("k"), path: "/sop/report" })).status).toBe(202);
    const turn = await fixture.post({ ...key("k"), path: "/webhook", body: '{"message":"hi"}' });
    expect(turn.json).toMatchObject({ response: "echo: hi" });
  });

  test("it is malformed when /webhook would say so", async () => {
    const fixture = await new Fixture().start();
    for (const bad of ["", "a b", "x".repeat(257)]) {
      const answer = await fixture.post(key(bad));
      expect([answer.status, answer.json.code]).toEqual([400, "BAD_IDEMPOTENCY_KEY"]);
    }
  });
});

describe("the locks of /webhook", () => {
  /** Every way to be wrong, in the order the answers must come in. */
  const STEPS: readonly { status: number; code: string; headers?: Record<string, string>; body?: string | Buffer }[] = [
    { status: 403, code: "BAD_HOST", headers: { host: "evil.example" } },
    { status: 403, code: "BAD_ORIGIN", headers: { origin: "http://evil.example" } },
    { status: 429, code: "RATE_LIMITED", headers: { "x-forwarded-for": "203.0.113.1" } },
    { status: 401, code: "UNAUTHORIZED", headers: { authorization: `Bearer svc_${"0".repeat(64)}` } },
    { status: 401, code: "BAD_WEBHOOK_SECRET", headers: { "x-webhook-secret": "wrong" } },
    { status: 415, code: "BAD_CONTENT_TYPE", headers: { "content-type": "text/plain" } },
    { status: 413, code: "TOO_LARGE", body: Buffer.alloc(5000, 0xff) },
    { status: 401, code: "BAD_SIGNATURE", headers: { "webhook-signature": "v1,AAAA" } },
    { status: 400, code: "BAD_JSON", body: Buffer.from('{"ref":"\xff"}', "latin1") },
    { status: 400, code: "BAD_IDEMPOTENCY_KEY", headers: { "x-idempotency-key": "a b" } },
  ];

  test.each(STEPS.map((step, index) => [step.code, index] as const))(
    "%s comes before what follows",
    async (code, index) => {
      const fixture = new Fixture();
      await fixture.start({
        config: { webhook_rate_limit_per_minute: 1, trust_forwarded_headers: true },
        webhook: { secret: "s3cret", ...(code === "BAD_SIGNATURE" && { signing_secret: "whsec_c2VjcmV0" }) },
      });
      const headers: Record<string, string> = { "x-webhook-secret": "s3cret", "x-forwarded-for": "203.0.113.2" };
      await fixture.post({ headers: { ...headers, "x-forwarded-for": "203.0.113.1" } });
      const before = fixture.sops.started.length;
      let body: string | Buffer | undefined;
      for (const wrong of STEPS.slice(index)) {
        Object.assign(headers, wrong.headers);
        body ??= wrong.body;
      }
      const answer = await fixture.post({ headers, ...(body !== undefined && { body }) });
      expect([answer.status, answer.json.code]).toEqual([STEPS[index]!.status, code]);
      expect([fixture.sops.started.length, fixture.claimed.size]).toEqual([before, 0]);
    },
  );

  test("the limit is one for all procedures, and not that of /webhook; a reload changes both", async () => {
    const fixture = await new Fixture().start({ config: { webhook_rate_limit_per_minute: 2 } });
    fixture.sops.paths.set("/sop/report", STARTED);
    const webhook = () => fixture.post({ path: "/webhook", body: '{"message":"hi"}' });
    expect((await fixture.post()).status).toBe(202);
    expect((await fixture.post({ path: "/sop/report" })).status).toBe(202);
    const refused = await fixture.post();
    expect([refused.status, refused.json.retry_after]).toEqual([429, 60]);
    expect([(await webhook()).status, (await webhook()).status, (await webhook()).status]).toEqual([200, 200, 429]);
    fixture.reconfigure({ config: { webhook_rate_limit_per_minute: 3 } });
    expect([(await fixture.post()).status, (await fixture.post()).status]).toEqual([202, 429]);
  });

  test("a reader's token does not open it, an operator's does, the page's sign-in is none", async () => {
    const fixture = new Fixture();
    const [read, operator] = [fixture.device("read"), fixture.device("operator")];
    await fixture.start();
    const as = (token: string) => fixture.post({ headers: { authorization: `Bearer ${token}` } });
    expect([(await as(read)).json.code, (await as(operator)).status]).toEqual(["FORBIDDEN_SCOPE", 202]);
    const cookie = { "content-type": "application/json", cookie: "svc_session=x", "x-svc-csrf": "x" };
    expect((await call(fixture, { method: "POST", path: PATH, headers: cookie, body: "{}" })).status).toBe(401);
  });

  test("require_pairing = false lifts the bearer, and not for whom a proxy brings", async () => {
    const fixture = await new Fixture().start({ config: { require_pairing: false } });
    const open = { method: "POST", path: PATH, headers: { "content-type": "application/json" }, body: "{}" };
    expect((await call(fixture, open)).status).toBe(202);
    expect(fixture.sops.started[0]?.by).toBe(`webhook ${PATH}`);
    const forwarded = { ...open, headers: { ...open.headers, "x-forwarded-for": "203.0.113.9" } };
    expect((await call(fixture, forwarded)).status).toBe(401);
  });

  test("a signed request is good once, on this path and on every other", async () => {
    const fixture = await new Fixture().start({ webhook: { signing_secret: "whsec_c2VjcmV0" } });
    const now = fixture.clock.now();
    const once = signed("msg-1", '{"message":"hi"}', now);
    expect((await fixture.post(once)).status).toBe(202);
    expect((await fixture.post(once)).json.code).toBe("BAD_SIGNATURE");
    expect((await fixture.post({ ...once, path: "/webhook" })).json.code).toBe("BAD_SIGNATURE");
    expect([...fixture.kept]).toEqual(["client-webhook webhook-id:msg-1"]);
    fixture.failWrite = new SvcError("STORE_FULL");
    const again = signed("msg-2", "{}", now);
    expect((await fixture.post(again)).status).toBe(503);
    fixture.failWrite = undefined;
    expect((await fixture.post(again)).status).toBe(202);
  });

  test("a device that is revoked while its body comes in starts nothing", async () => {
    const fixture = await new Fixture().start();
    const wire = new Wire(fixture);
    const head = `POST ${PATH} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${fixture.token}\r\n`;
    wire.write(`${head}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{`);
    await until(() => fixture.gateway.connections === 1);
    expect((await fixture.post({ path: "/openapi.json" })).status).toBe(405);
    await fixture.gateway.devices.revoke("dev-webhook");
    wire.write("}");
    expect(statusOf((await wire.responses(1))[0]!)).toBe(401);
    await wire.closed;
    expect(fixture.sops.started).toEqual([]);
  });
});

describe("which path it is", () => {
  test.each([
    "/sop/%64eploy",
    "/sop/deploy/",
    "/sop//deploy",
    "/SOP/deploy",
    "/sop/Deploy",
    "/sop/./deploy",
    "/x/../sop/deploy",
    "/sop/%2e%2e/sop/deploy",
    "/sop\\deploy",
    "/sop/deploy;x=1",
    "/sop/deploy%00",
    "/sop/deploy%20",
    "/sop/deplo%79",
    "/sop",
  ])("%s is another one", async (path) => {
    const fixture = await new Fixture().start();
    const answer = await fixture.post({ path });
    expect([404, 400]).toContain(answer.status);
    expect(fixture.sops.started).toEqual([]);
  });

  test.each(["/x/../y", "/./y", "/%2e%2e/y", "/x\\y"])("%s is nobody's, though a file names it", async (path) => {
    const fixture = new Fixture();
    fixture.sops.paths.set(path, STARTED);
    await fixture.start();
    expect((await fixture.post({ path })).status).toBe(404);
    expect(fixture.sops.started).toEqual([]);
  });

  test("one that is a route's stays that route's, however it is spelt", async () => {
    const fixture = new Fixture();
    const ways = channelWith();
    const missing = new Map([["/provider-b", { feature: "channel-provider-b", title: "Provider B" }]]);
    const paths = [
      "/health",
      "/metrics",
      "/pair",
      "/openapi.json",
      "/api/channel-events",
      "/api/status",
      "/api/%73tatus",
      "/api/sops/x/runs",
      "/api/pets",
      "/provider-a",
      "/provider-b",
      "/",
      "/assets/app.js",
    ];
    for (const path of paths) fixture.sops.paths.set(path, STARTED);
    const operator = fixture.device("operator");
    await fixture.start({ ingress: [ways], ingressPaths: missing, routes: [route("GET", "/api/pets")] });
    for (const path of paths) {
      const answer = await fixture.post({ path, headers: { authorization: `Bearer ${operator}` } });
      expect([path, answer.status === 202 && answer.json.runs]).not.toEqual([path, STARTED.runs]);
    }
    expect((await fixture.post({ path: "/provider-b" })).json.code).toBe("NOT_CONFIGURED");
    await tick();
    expect(fixture.sops.started).toEqual([]);
  });
});
