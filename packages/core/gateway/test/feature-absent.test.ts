// Paths of features that this build does not have, that are off, or that failed: each says so to whoever asks, in the shape of
// every other error, and nobody else can have them.
import { describe, expect, test } from "vitest";
import type { FeaturePath } from "../src/index.ts";
import { FEATURE, Harness, route } from "./harness.ts";
import { call, raw, statusOf } from "./http.ts";

const MISSING = "the feature is off; turn it on";
const OWNER: FeaturePath = { feature: FEATURE, missing: MISSING };
const PATHS = new Map([
  ["/api/keys", OWNER],
  ["/api/keys/{id}", OWNER],
  ["/api/keys/{id}/parts", OWNER],
]);
const METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"];

describe("a path of a feature that is not there", () => {
  test.each(METHODS)("is 404 with the reason, for %s too, before anything is asked of the caller", async (method) => {
    const gateway = await new Harness().start({ featurePaths: PATHS });
    for (const path of ["/api/keys", "/api/keys/a%2Fb", "/api/keys/%C3%A9/parts", "/api/keys?x=1"]) {
      for (const headers of [{}, { authorization: "Bearer wrong" }]) {
        const answer = await call(gateway, { method, path, headers });
        const body = method === "HEAD" ? undefined : { error: MISSING, code: "NOT_CONFIGURED" };
        expect([answer.status, answer.json]).toEqual([404, body]);
      }
    }
  });

  test("is still behind the door", async () => {
    const gateway = await new Harness().start({ featurePaths: PATHS });
    const code = async (headers: Record<string, string>) =>
      (await call(gateway, { path: "/api/keys", headers })).json.code;
    expect(await code({ host: "evil.example" })).toBe("BAD_HOST");
    expect(await code({ origin: "https://evil.example" })).toBe("BAD_ORIGIN");
  });

  test("is not the paths beside it", async () => {
    const gateway = await new Harness().start({ featurePaths: PATHS });
    for (const path of [
      "/api/keys/",
      "/api/key",
      "/api/keys/a/b",
      "/api/keys/a/parts/b",
      "/api/%6Beys",
      "/api/keys/%zz/parts",
    ]) {
      expect((await call(gateway, { path })).json.code).toBe("NOT_FOUND");
    }
    expect(statusOf(await raw(gateway, "GET /api/keys/../keys HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"))).toBe(
      403,
    );
  });

  test("of a feature that is on and leaves the path out is nobody's", async () => {
    const featurePaths = new Map([["/api/keys", { feature: FEATURE, missing: undefined }]]);
    const gateway = await new Harness().start({ featurePaths });
    const answer = await call(gateway, { path: "/api/keys" });
    expect([answer.status, answer.json.code]).toEqual([404, "NOT_FOUND"]);
  });

  test("is no path of a procedure", async () => {
    const gateway = await new Harness().start({ featurePaths: PATHS });
    for (const path of ["/api/keys/a", "/api/free"]) gateway.sops.paths.set(path, { runs: [], skipped: [] });
    const post = async (path: string) => (await call(gateway, { method: "POST", path, body: "{}" })).json.code;
    expect([await post("/api/keys/a"), await post("/api/free")]).toEqual(["NOT_CONFIGURED", "UNAUTHORIZED"]);
  });

  test("can't take one of core", async () => {
    const harness = new Harness();
    const headers = { authorization: `Bearer ${harness.device("operator")}` };
    const featurePaths = new Map(
      ["/api/status", "/api/{any}", "/api/sessions/{id}", "/api/session"].map((path) => [path, OWNER]),
    );
    const gateway = await harness.start({ featurePaths });
    for (const path of ["/api/status", "/api/devices", "/api/session"]) {
      expect((await call(gateway, { path, headers })).status).toBe(200);
      expect((await call(gateway, { path })).status).toBe(401);
    }
  });
});

describe("a feature that failed", () => {
  test("is down, not missing: with its routes and without", async () => {
    for (const routes of [[], [route("GET", "/api/keys/{id}")]]) {
      const gateway = await new Harness().start({ routes, featurePaths: PATHS });
      gateway.failed.add(FEATURE);
      for (const headers of [{}, { authorization: "Bearer wrong" }]) {
        const answer = await call(gateway, { path: "/api/keys/a", headers });
        expect([answer.status, answer.json.code]).toEqual([503, "FEATURE_DOWN"]);
      }
      gateway.failed.clear();
      expect((await call(gateway, { path: "/api/keys/a" })).status).toBe(routes.length === 0 ? 404 : 401);
    }
  });
});

test("a feature that is there is served, and a reload takes it away and brings it back", async () => {
  const harness = new Harness();
  const headers = { authorization: `Bearer ${harness.device("operator")}` };
  const routes = [route("GET", "/api/keys"), route("DELETE", "/api/keys/{id}")];
  const gateway = await harness.start({ routes, featurePaths: PATHS });
  const ask = async (method: string, path: string) => (await call(gateway, { method, path, headers })).status;
  const all = async () => [
    await ask("GET", "/api/keys"),
    await ask("DELETE", "/api/keys/a"),
    await ask("POST", "/api/keys"),
  ];
  expect(await all()).toEqual([200, 200, 405]);
  gateway.reconfigure({ routes: [] });
  expect(await all()).toEqual([404, 404, 404]);
  gateway.reconfigure({ routes });
  expect(await all()).toEqual([200, 200, 405]);
});
