// Routes that are open to everybody: who is taken for whom, how often, from where, with what body; and that a guess at a
// token is a guess here, too.
import type { Route, RouteRequest } from "@svc/contract";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { Harness, type HarnessOptions, route } from "./harness.ts";
import { call, type Call, raw, statusOf, until, Wire } from "./http.ts";
import { originOf, signIn } from "./sign-in.ts";

const PATH = "/api/door/start";

async function started(options: HarnessOptions = {}, doc: Partial<Route["doc"]> = {}) {
  const seen: RouteRequest[] = [];
  const handle: Route["handle"] = (request) => {
    seen.push(request);
    return Promise.resolve({ status: 200, body: { kind: request.caller.kind } });
  };
  const harness = new Harness();
  const tokens = {
    operator: harness.device("operator"),
    read: harness.device("read"),
    webhook: harness.device("webhook"),
  };
  const open = ["GET", "POST"].map((method) => ({
    ...route(method as "GET", PATH, handle, doc),
    access: "open" as const,
  }));
  const gateway = await harness.start({
    routes: [...open, route("GET", "/api/closed")],
    ...options,
    config: { trust_forwarded_headers: true, ...options.config },
  });
  const ask = (changed: Call = {}) => call(gateway, { method: "POST", path: PATH, ...changed });
  return { gateway, tokens, seen, ask };
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const from = (address: string) => ({ "x-forwarded-for": address });

describe("the caller", () => {
  test("is a stranger who brings nothing", async () => {
    const { seen, ask } = await started();
    expect((await ask()).json).toEqual({ kind: "stranger" });
    expect(seen[0]).toMatchObject({ caller: { kind: "stranger" }, body: null, origin: undefined });
  });

  test("is the device whose token comes along, whatever its scope", async () => {
    const { tokens, seen, ask } = await started();
    for (const name of ["operator", "read", "webhook"] as const) {
      expect((await ask({ headers: bearer(tokens[name]) })).status).toBe(200);
      expect(seen.pop()?.caller).toEqual({ kind: "device", clientId: `client-${name}`, proof: "token" });
    }
  });

  test("is the device of the page that is signed in", async () => {
    const { gateway, tokens, seen, ask } = await started();
    const page = await signIn(gateway, tokens.read);
    await ask({ headers: { ...page.headers, origin: originOf(gateway) } });
    expect(seen[0]?.caller).toEqual({ kind: "device", clientId: "client-read", proof: "page" });
  });

  test("is a stranger with the cookie alone, which any site can have sent", async () => {
    const { gateway, tokens, seen, ask } = await started();
    const { cookie } = await signIn(gateway, tokens.operator);
    await ask({ headers: { cookie: `svc_session=${cookie}` } });
    expect(seen[0]?.caller).toEqual({ kind: "stranger" });
  });

  test("is nobody with a wrong token, a wrong half, or a page that was signed out", async () => {
    const { gateway, tokens, seen, ask } = await started();
    const page = await signIn(gateway, tokens.operator);
    const wrong = [
      bearer(`svc_${"0".repeat(64)}`),
      { authorization: "" },
      { authorization: "Basic eDp5" },
      { ...page.headers, "x-svc-csrf": "x" },
      { ...page.headers, ...bearer("x") },
    ];
    for (const headers of wrong) {
      const answer = await ask({ headers });
      expect([answer.status, answer.json.code]).toEqual([401, "UNAUTHORIZED"]);
    }
    await call(gateway, { method: "DELETE", path: "/api/session", headers: page.headers });
    expect((await ask({ headers: page.headers })).status).toBe(401);
    expect(seen).toEqual([]);
  });

  test("who guesses is locked out as everywhere, here and there, with any token and without one", async () => {
    const { gateway, tokens, seen, ask } = await started();
    const attacker = from("203.0.113.9");
    for (let count = 0; count < 10; count += 1) {
      expect((await ask({ headers: { ...bearer("guess"), ...attacker } })).status).toBe(401);
    }
    for (const more of [{}, bearer("guess"), bearer(tokens.operator)]) {
      const answer = await ask({ headers: { ...attacker, ...more } });
      expect([answer.status, answer.json.code]).toEqual([429, "LOCKED_OUT"]);
    }
    const elsewhere = await call(gateway, {
      path: "/api/closed",
      headers: { ...attacker, ...bearer(tokens.operator) },
    });
    expect(elsewhere.status).toBe(429);
    expect(seen).toEqual([]);
    expect((await ask({ headers: from("203.0.113.10") })).status).toBe(200);
  });

  test("that is revoked meanwhile is answered 401, and its connection ends", async () => {
    const going = Promise.withResolvers<void>();
    const slow = route("POST", PATH, async () => (await going.promise, { status: 200, body: {} }));
    const { gateway, tokens } = await started({ routes: [{ ...slow, access: "open" }] });
    const pending = call(gateway, { method: "POST", path: PATH, headers: bearer(tokens.read) });
    await until(() => gateway.gateway.connections > 0);
    await gateway.gateway.devices.revoke("dev-read");
    going.resolve();
    expect((await pending).status).toBe(401);
  });
});

describe("how often", () => {
  test("thirty a minute from one client, whoever it is; others are not touched by it", async () => {
    const { gateway, tokens, seen, ask } = await started();
    const one = from("203.0.113.1");
    for (let count = 0; count < 30; count += 1) {
      const headers = { ...one, ...(count % 2 === 0 && bearer(tokens.operator)) };
      expect((await ask({ headers, method: count % 3 === 0 ? "GET" : "POST" })).status).toBe(200);
    }
    for (const headers of [one, { ...one, ...bearer(tokens.operator) }]) {
      const refused = await ask({ headers });
      expect([refused.status, refused.json]).toEqual([
        429,
        { error: expect.any(String), code: "RATE_LIMITED", retry_after: 60 },
      ]);
      expect(refused.headers["retry-after"]).toBe("60");
    }
    expect(seen).toHaveLength(30);
    expect((await ask({ headers: from("203.0.113.2") })).status).toBe(200);
    await gateway.clock.advance(60_000);
    expect((await ask({ headers: one })).status).toBe(200);
  });

  test("is counted on over a reload", async () => {
    const { gateway, ask } = await started();
    for (let count = 0; count < 30; count += 1) await ask();
    gateway.reconfigure({});
    expect((await ask()).status).toBe(429);
  });

  test("what other sites make a browser send uses nothing up", async () => {
    const { ask } = await started();
    for (let count = 0; count < 40; count += 1) {
      expect((await ask({ headers: { "sec-fetch-site": "cross-site" } })).status).toBe(403);
    }
    expect((await ask()).status).toBe(200);
  });
});

describe("from where", () => {
  test.each(["cross-site", "same-site", "none", "same-origin, cross-site", ""])(
    "a browser that says %j is refused, with or without an Origin",
    async (site) => {
      const { gateway, seen, ask } = await started();
      for (const more of [{}, { origin: originOf(gateway) }]) {
        const answer = await ask({ headers: { "sec-fetch-site": site, ...more } });
        expect([answer.status, answer.json.code]).toEqual([403, "BAD_ORIGIN"]);
      }
      expect(seen).toEqual([]);
    },
  );

  test.each(["https://evil.example", "null", "http://localhost", "http://localhost:1"])(
    "the Origin %s is refused at the door",
    async (origin) => {
      const { seen, ask } = await started();
      expect((await ask({ headers: { origin } })).json.code).toBe("BAD_ORIGIN");
      expect(seen).toEqual([]);
    },
  );

  test("a Host that is not served is refused at the door", async () => {
    const { seen, ask } = await started();
    expect((await ask({ headers: { host: "evil.example" } })).json.code).toBe("BAD_HOST");
    expect(seen).toEqual([]);
  });

  test("a page of ours is let in, and the route is told where it is", async () => {
    const { gateway, seen, ask } = await started();
    const origin = originOf(gateway);
    for (const headers of [{ origin }, { origin, "sec-fetch-site": "same-origin" }]) {
      expect((await ask({ headers })).status).toBe(200);
      expect(seen.pop()?.origin).toBe(origin);
    }
    // Browsers name no Origin when a page reads its own.
    expect((await ask({ method: "GET", headers: { "sec-fetch-site": "same-origin" } })).status).toBe(200);
  });

  test("two Sec-Fetch-Sites are none of ours", async () => {
    const { gateway, seen } = await started();
    const lines = ["Host: localhost", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: cross-site", "Connection: close"];
    expect(statusOf(await raw(gateway, `GET ${PATH} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`))).toBe(403);
    expect(seen).toEqual([]);
  });
});

describe("with what body", () => {
  const json = { "content-type": "application/json" };
  const BODY = { body: v.object({ answer: v.string() }) };

  test.each([
    ["that is no JSON", "{", json, 400, "BAD_JSON"],
    ["of another type", '{"answer":""}', { "content-type": "text/plain" }, 415, "BAD_CONTENT_TYPE"],
    ["of a form", "answer=1", { "content-type": "application/x-www-form-urlencoded" }, 415, "BAD_CONTENT_TYPE"],
    ["compressed", '{"answer":""}', { ...json, "content-encoding": "gzip" }, 415, "BAD_CONTENT_TYPE"],
    ["that does not fit", "[]", json, 400, "BAD_REQUEST"],
    ["larger than 64 KiB", `{"answer":"${"x".repeat(65_536)}"}`, json, 413, "TOO_LARGE"],
  ])("one %s never reaches it", async (_name, body, headers, status, code) => {
    const { seen, ask } = await started({ config: { max_body_bytes: 1_048_576 } }, BODY);
    const answer = await ask({ body, headers });
    expect([answer.status, answer.json.code, seen.length]).toEqual([status, code, 0]);
  });

  test("64 KiB are taken, or what bodies may be at most where that is less", async () => {
    const { ask } = await started({ config: { max_body_bytes: 1_048_576 } }, BODY);
    const sized = (bytes: number) => JSON.stringify({ answer: "x".repeat(bytes - '{"answer":""}'.length) });
    expect((await ask({ body: sized(65_536), headers: json })).status).toBe(200);
    const small = await started({}, BODY);
    expect((await small.ask({ body: sized(4096), headers: json })).status).toBe(200);
    expect((await small.ask({ body: sized(4097), headers: json })).status).toBe(413);
  });

  test("one that is sent without a length is counted while it comes in", async () => {
    const { gateway, seen } = await started({}, BODY);
    const wire = new Wire(gateway);
    wire.write(
      `POST ${PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    for (let count = 0; count < 6; count += 1) wire.write(`400\r\n${"x".repeat(1024)}\r\n`);
    const [answer = ""] = await wire.responses(1);
    expect([statusOf(answer), seen.length]).toEqual([413, 0]);
    wire.socket.destroy();
  });
});

test("while the service shuts down nobody comes in any more, and reading still works", async () => {
  const { gateway, seen, ask } = await started();
  gateway.gateway.drain();
  const answer = await ask();
  expect([answer.status, answer.json.code, seen.length]).toEqual([503, "DRAINING", 0]);
  expect((await ask({ method: "GET" })).status).toBe(200);
});

test("HEAD is GET without the body, OPTIONS tells the methods and asks nobody", async () => {
  const { seen, ask } = await started();
  const head = await ask({ method: "HEAD" });
  expect([head.status, head.text, seen.length]).toEqual([200, "", 1]);
  const options = await ask({ method: "OPTIONS" });
  expect([options.status, options.headers["allow"], seen.length]).toEqual([204, "GET, HEAD, POST", 1]);
  expect((await ask({ method: "DELETE" })).status).toBe(405);
});
