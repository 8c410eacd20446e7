// The routes that are not /webhook or /pair: bodies, content types, methods, unknown paths, and feature routes.
import { SvcError, type Json, type Route, type RouteRequest } from "@svc/contract";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { Harness, route } from "./harness.ts";
import { call } from "./http.ts";
import { REPORTS } from "./reports.ts";

async function started(routes: readonly Route[] = []) {
  const harness = new Harness();
  const headers = { authorization: `Bearer ${harness.device("operator")}` };
  const reader = { authorization: `Bearer ${harness.device("read")}` };
  return { headers, reader, gateway: await harness.start({ routes }) };
}

describe("paths and methods", () => {
  test.each([
    "/",
    "/nowhere",
    "/api",
    "/api/",
    "/api/nowhere",
    "/webhook/",
    "/WEBHOOK",
    "/api/status/",
    "//api/status",
    "/%zz",
    "/..%2fapi/status",
  ])("GET %s is 404", async (path) => {
    const { gateway, headers } = await started();
    const answer = await call(gateway, { path, headers });
    expect([answer.status, answer.json]).toEqual([404, { error: expect.any(String), code: "NOT_FOUND" }]);
  });

  test.each([
    ["GET", "/webhook", "POST"],
    ["HEAD", "/webhook", "POST"],
    ["PUT", "/pair", "POST"],
    ["POST", "/health", "GET, HEAD"],
    ["DELETE", "/metrics", "GET, HEAD"],
    ["POST", "/api/status", "GET, HEAD"],
    ["PATCH", "/api/plugins", "GET, HEAD, POST"],
  ])("%s %s is 405 with Allow: %s", async (method, path, allow) => {
    const { gateway, headers } = await started([route("GET", "/api/plugins"), route("POST", "/api/plugins")]);
    const answer = await call(gateway, { method, path, headers });
    expect([answer.status, answer.headers["allow"]]).toEqual([405, allow]);
    expect(answer.json?.code).toBe(method === "HEAD" ? undefined : "METHOD_NOT_ALLOWED");
  });

  test.each(["/health", "/metrics", "/api/status"])("HEAD %s is GET without the body", async (path) => {
    const { gateway, headers } = await started();
    const [get, head] = [
      await call(gateway, { path, headers }),
      await call(gateway, { method: "HEAD", path, headers }),
    ];
    expect([head.status, head.text]).toEqual([200, ""]);
    expect(head.headers["content-length"]).toBe(get.headers["content-length"]);
  });

  test.each([
    ["/webhook", "POST"],
    ["/api/status", "GET, HEAD"],
  ])("OPTIONS %s tells the methods, and lets no other site in", async (path, allow) => {
    const { gateway } = await started();
    const answer = await call(gateway, { method: "OPTIONS", path });
    expect([answer.status, answer.headers["allow"], answer.text]).toEqual([204, allow, ""]);
    expect(answer.headers["content-length"]).toBe(undefined);
    expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
  });
});

const PATHS: Readonly<Record<string, string>> = { configReport: "config", configSchema: "config/schema" };

describe("/api", () => {
  test("reports what the app says", async () => {
    const { gateway, headers } = await started();
    for (const [name, report] of Object.entries(REPORTS)) {
      const path = `/api/${PATHS[name] ?? name}`;
      expect((await call(gateway, { path, headers })).json).toEqual(await report());
    }
  });
});

describe("feature routes", () => {
  const echo = (seen: RouteRequest[], doc: Partial<Route["doc"]> = {}): Route =>
    route(
      "POST",
      "/api/plugins",
      (request) => {
        seen.push(request);
        return Promise.resolve({ status: 201, body: { got: request.body, q: request.query.get("q") } as Json });
      },
      doc,
    );
  const json = { "content-type": "application/json" };

  test("are handed identity, query and body", async () => {
    const seen: RouteRequest[] = [];
    const { gateway, headers } = await started([echo(seen)]);
    const posted = { method: "POST", path: "/api/plugins?q=a%20b", headers: { ...headers, ...json }, body: '{"x":1}' };
    expect(await call(gateway, posted)).toMatchObject({ status: 201, json: { got: { x: 1 }, q: "a b" } });
    expect(seen[0]?.caller).toMatchObject({ kind: "device", clientId: "client-operator", proof: "token" });
    const bare = await call(gateway, { method: "POST", path: "/api/plugins", headers });
    expect(bare.json.got).toBe(null);
  });

  test.each([
    ["not JSON", "{", json, 400],
    ["another type", "{}", { "content-type": "text/plain" }, 415],
    ["too large", `"${"x".repeat(5000)}"`, json, 413],
  ])("a body that is %s never reaches them", async (_name, body, type, status) => {
    const seen: RouteRequest[] = [];
    const { gateway, headers } = await started([echo(seen)]);
    const answer = await call(gateway, {
      method: "POST",
      path: "/api/plugins",
      headers: { ...headers, ...type },
      body,
    });
    expect([answer.status, seen.length]).toEqual([status, 0]);
  });

  const pets = { body: v.object({ name: v.pipe(v.string(), v.maxLength(5)), kind: v.optional(v.string(), "cat") }) };

  test("are handed what their schema makes of a body", async () => {
    const seen: RouteRequest[] = [];
    const { gateway, headers } = await started([echo(seen, pets)]);
    const posted = {
      method: "POST",
      path: "/api/plugins",
      headers: { ...headers, ...json },
      body: '{"name":"Tom","x":1}',
    };
    expect((await call(gateway, posted)).status).toBe(201);
    expect(seen[0]?.body).toEqual({ name: "Tom", kind: "cat" });
  });

  test.each(["", "[]", "null", '"x"', '{"name":1}', '{"name":"too-long"}'])(
    "a body that does not fit the schema never reaches them, and is not told again: %j",
    async (body) => {
      const seen: RouteRequest[] = [];
      const { gateway, headers } = await started([echo(seen, pets)]);
      const answer = await call(gateway, {
        method: "POST",
        path: "/api/plugins",
        headers: { ...headers, ...json },
        body,
      });
      expect([answer.status, answer.json.code, seen.length]).toEqual([400, "BAD_REQUEST", 0]);
      expect(answer.text).not.toContain("too-long");
    },
  );

  test.each(["kind=cat&kind=dog", "kind=mouse"])("a query that does not fit never reaches them: %s", async (query) => {
    const seen: RouteRequest[] = [];
    const doc = { query: { kind: v.optional(v.pipe(v.picklist(["cat", "dog"]), v.description("cat or dog"))) } };
    const { gateway, headers } = await started([echo(seen, doc)]);
    const ask = (text: string) => call(gateway, { method: "POST", path: `/api/plugins?${text}`, headers });
    expect((await ask(query)).json).toEqual({ error: "kind must be cat or dog.", code: "BAD_REQUEST" });
    expect((await ask("kind=dog&other=1&other=2")).status).toBe(201);
    expect(seen).toHaveLength(1);
  });

  test("what they throw is answered in the one error shape, and the unexpected is not told", async () => {
    const throwing = (path: string, error: Error): Route => route("GET", path, () => Promise.reject(error));
    const { gateway, headers } = await started([
      throwing("/api/known", new SvcError("TOOL_UNKNOWN")),
      throwing("/api/unknown", new Error("password=hunter2")),
    ]);
    expect(await call(gateway, { path: "/api/known", headers })).toMatchObject({
      status: 404,
      json: { code: "TOOL_UNKNOWN" },
    });
    const unknown = await call(gateway, { path: "/api/unknown", headers });
    expect([unknown.status, unknown.json.code]).toEqual([500, "INTERNAL"]);
    expect(unknown.text).not.toContain("hunter2");
  });

  test("that are not below /api/, or claimed twice, stop the start with every problem named", async () => {
    const paths = ["/x", "/api/:id", "/api/status", "/api/sessions/mine", "/api/a", "/api/a"];
    const start = new Harness().start({ routes: paths.map((path) => route("PUT", path)) });
    const failure = (await start.catch((error: unknown) => error)) as SvcError;
    expect(failure.code).toBe("FEATURE_CONFLICT");
    expect(failure.message.split("; ")).toHaveLength(5);
  });
});
