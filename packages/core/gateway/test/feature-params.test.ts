// Segments `{name}` of features' routes: what a route is handed of a path, however it is written, and what never reaches it.
import type { Route, RouteRequest } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { Harness, route } from "./harness.ts";
import { call, raw, statusOf } from "./http.ts";

async function started(...more: readonly Route[]) {
  const seen: RouteRequest[] = [];
  const handle: Route["handle"] = (request) => {
    seen.push(request);
    return Promise.resolve({ status: 200, body: { ...request.params } });
  };
  const harness = new Harness();
  const headers = { authorization: `Bearer ${harness.device("operator")}` };
  const routes = [
    route("GET", "/api/keys/{id}", handle),
    route("DELETE", "/api/keys/{id}", handle),
    route("GET", "/api/keys/{id}/parts/{part}", handle),
    ...more,
  ];
  const gateway = await harness.start({ routes });
  const get = (path: string) => call(gateway, { path, headers });
  return { gateway, headers, seen, get };
}

describe("a parameter", () => {
  test.each([
    ["plain", "plain"],
    ["a%20b", "a b"],
    ["%C3%A9", "é"],
    ["a%2Fb", "a/b"],
    ["..%2F..%2Fconfig", "../../config"],
    ["%252e%252e", "%2e%2e"],
    ["%252F", "%2F"],
    ["%2525", "%25"],
    ["a+b", "a+b"],
    ["a:b@c;d=e", "a:b@c;d=e"],
    ["...", "..."],
    ["%7Bid%7D", "{id}"],
    ["__proto__", "__proto__"],
    ["x".repeat(5000), "x".repeat(5000)],
  ])("%s is handed on as it is meant, decoded once", async (written, meant) => {
    const { seen, get } = await started();
    expect((await get(`/api/keys/${written}?q=1`)).status).toBe(200);
    expect(seen.map(({ params }) => params)).toEqual([{ id: meant }]);
  });

  test("is one of several, each by its name", async () => {
    const { get } = await started();
    expect((await get("/api/keys/a%2Fb/parts/..%2Fc")).json).toEqual({ id: "a/b", part: "../c" });
  });

  test.each(["%", "%zz", "%ff", "%e0%a4", "a%2", "%C3%28", "%00", "%61", "a%2Db"])(
    "%s means nothing, or has another spelling: it is nobody's path",
    async (id) => {
      const { seen, get } = await started();
      const answer = await get(`/api/keys/${id}`);
      expect([answer.status, answer.json.code, seen.length]).toEqual([404, "NOT_FOUND", 0]);
      expect(answer.text).not.toContain(id.length > 2 ? id : "%%");
    },
  );

  test.each([
    "/api/keys/",
    "/api/keys",
    "/api/keys//parts/1",
    "/api/keys/a/b",
    "/api/keys/a/",
    "/api/keys/a/../b",
    "/api/keys/%2e%2e",
    "/api/keys/..",
    "/api/keys/.%2E/parts/1",
    "/api/x/../keys/a",
    "/api//keys/a",
    "/api/keys\\a",
  ])("is a whole segment: %s is nobody's path", async (path) => {
    const { gateway, headers, seen } = await started();
    const lines = ["Host: localhost", `Authorization: ${headers.authorization}`, "Connection: close"];
    expect(statusOf(await raw(gateway, `GET ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`))).toBe(404);
    expect(seen).toEqual([]);
  });
});

describe("methods of one pattern", () => {
  test("are told apart, with HEAD and OPTIONS beside them", async () => {
    const { gateway, headers, seen } = await started();
    const ask = (method: string) => call(gateway, { method, path: "/api/keys/a%2Fb", headers });
    expect((await ask("DELETE")).json).toEqual({ id: "a/b" });
    const head = await ask("HEAD");
    expect([head.status, head.text, head.headers["content-length"]]).toEqual([200, "", '{"id":"a/b"}'.length + ""]);
    for (const [method, status] of [
      ["OPTIONS", 204],
      ["PUT", 405],
      ["PATCH", 405],
    ] as const) {
      const answer = await ask(method);
      expect([answer.status, answer.headers["allow"]]).toEqual([status, "DELETE, GET, HEAD"]);
    }
    expect(seen).toHaveLength(2);
  });

  test("need a bearer, and the scope that changing something needs", async () => {
    const harness = new Harness();
    const reader = { authorization: `Bearer ${harness.device("read")}` };
    const routes = [
      route("GET", "/api/keys/{id}"),
      route("DELETE", "/api/keys/{id}"),
      { ...route("POST", "/api/keys/{id}"), access: "read" } as const,
      { ...route("PUT", "/api/keys/{id}"), access: "operate" } as const,
    ];
    const gateway = await harness.start({ routes });
    const ask = async (method: string, headers = reader) =>
      (await call(gateway, { method, path: "/api/keys/1", headers })).status;
    expect(await Promise.all(["GET", "DELETE", "POST", "PUT"].map((method) => ask(method)))).toEqual([
      200, 403, 200, 403,
    ]);
    expect((await call(gateway, { path: "/api/keys/1" })).status).toBe(401);
  });
});

describe("what is asked besides", () => {
  test("two Origins or two Authorizations are none: the route never hears of them", async () => {
    const { gateway, headers, seen } = await started();
    const own = `Origin: http://localhost:${gateway.port}`;
    const authorization = `Authorization: ${headers.authorization}`;
    const ask = async (...lines: string[]) => {
      const all = ["Host: localhost", ...lines, "Connection: close"].join("\r\n");
      return statusOf(await raw(gateway, `GET /api/keys/a HTTP/1.1\r\n${all}\r\n\r\n`));
    };
    expect(await ask(authorization, own, own)).toBe(403);
    expect(await ask(authorization, authorization)).toBe(400);
    expect(seen).toEqual([]);
    expect(await ask(authorization, own)).toBe(200);
    expect(seen[0]?.origin).toBe(`http://localhost:${gateway.port}`);
  });
});

test.each([
  "/api/{any}",
  "/api/{any}/{id}",
  "/api/sessions/{name}",
  "/api/sessions/{id}/{what}",
  "/api/devices/mine",
  "/api/{id",
  "/api/x{id}",
  "/api/{ID}",
  "/api/x/",
])("the path %s meets one of core's, or is none, and stops the start", async (path) => {
  const start = new Harness().start({ routes: [route("GET", path)] });
  await expect(start).rejects.toMatchObject({ code: "FEATURE_CONFLICT" });
});

test("the paths of child agents are served without /api too, behind the same checks", async () => {
  const routes = [
    route("GET", "/api/agents", () => Promise.resolve({ status: 200, body: { all: true } })),
    route("GET", "/api/agents/{id}/events", ({ params, query }) =>
      Promise.resolve({ status: 200, body: { ...params, since: query.get("since") } }),
    ),
  ];
  const { gateway, get } = await started(...routes);
  expect((await get("/agents")).json).toEqual({ all: true });
  expect((await get("/agents/a%2Fb/events?since=4")).json).toEqual(
    (await get("/api/agents/a%2Fb/events?since=4")).json,
  );
  expect((await get("/agents/a%2Fb/events?since=4")).json).toMatchObject({ id: "a/b" });
  expect((await call(gateway, { path: "/agents" })).status).toBe(401);
  for (const path of ["/agentsx", "/agents/", "//agents", "/agents/../agents", "/keys/1"]) {
    expect((await get(path)).json.code).toBe("NOT_FOUND");
  }
});
