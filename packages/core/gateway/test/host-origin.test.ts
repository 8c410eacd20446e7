// Host and Origin: a web page must not be able to use a visitor's browser against a gateway on his machine (DNS
// rebinding, cross-site requests), while every honest way to name the gateway works.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hostRules, isLocalOnly } from "../src/pipeline.ts";
import { Harness } from "./harness.ts";
import { call, codeOf, raw, statusOf } from "./http.ts";

const rules = hostRules({
  allowedHosts: ["Bot.internal", "nas:8080"],
  publicUrl: "https://svc.example.org/x",
  port: 42617,
});

describe("Host", () => {
  test.each([
    "localhost",
    "LocalHost:1",
    "127.0.0.1",
    "127.0.0.1:42617",
    "192.168.7.9:80",
    "[::1]",
    "[::1]:42617",
    "[2001:DB8::1]:1",
    "svc.example.org",
    "SVC.example.org:443",
    "bot.internal",
    "nas",
  ])("%s is served", (host) => expect(rules.allowsHost(host)).toBe(true));

  test.each([
    "",
    "evil.example",
    "localhost.",
    "localhost.evil.example",
    "xlocalhost",
    "127.0.0.1.evil.example",
    "127.1",
    "0x7f.0.0.1",
    "2130706433",
    "::1",
    "[::1",
    "[::1%25eth0]",
    "localhost:",
    "localhost:http",
    "localhost:123456",
    "user@localhost",
    "localhost/",
    "localhost, evil.example",
    " localhost",
    "internal",
  ])("%j is not", (host) => expect(rules.allowsHost(host)).toBe(false));

  test("a name that was refused once stays refused after one that was served", () => {
    fc.assert(
      fc.property(fc.domain(), (name) => {
        fc.pre(!["svc.example.org", "bot.internal"].includes(name.toLowerCase()));
        expect(rules.allowsHost("localhost")).toBe(true);
        expect(rules.allowsHost(name)).toBe(false);
      }),
    );
  });
});

describe("Origin", () => {
  test.each([
    ["http://localhost:42617", "localhost:42617"],
    ["http://localhost:42617", "127.0.0.1:42617"],
    ["http://127.0.0.1:42617", "127.0.0.1:42617"],
    ["https://[::1]:42617", "[::1]:42617"],
    ["http://[2001:db8::a]:42617", "[2001:DB8::A]:42617"],
    ["https://203.0.113.9", "203.0.113.9"],
    ["https://svc.example.org", "svc.example.org"],
    ["https://svc.example.org", "127.0.0.1:42617"],
    ["https://svc.example.org:443", "svc.example.org"],
    ["http://bot.internal:42617", "bot.internal:42617"],
  ])("%s may ask %s", (origin, host) => expect(rules.allowsOrigin(origin, host)).toBe(true));

  test.each([
    ["http://192.168.7.9:42617", "127.0.0.1:42617"],
    ["http://127.0.0.2:42617", "127.0.0.1:42617"],
    ["http://127.0.0.1:42617", "localhost:42617"],
    ["http://[::1]:42617", "127.0.0.1:42617"],
    ["http://127.0.0.1:42617", "127.0.0.1:80"],
    ["http://127.0.0.1:42617", "127.0.0.1"],
    ["http://127.0.0.1:42617", undefined],
    ["http://127.0.0.1:3000", "127.0.0.1:3000"],
    ["http://[0:0:0:0:0:0:0:1]:42617", "[::1]:42617"],
    ["https://203.0.113.9", "svc.example.org"],
    ["https://localhost", "localhost:42617"],
  ])("the address %s may not ask %s", (origin, host) => expect(rules.allowsOrigin(origin, host)).toBe(false));

  test("localhost has the port of the public URL where it is the public name", () => {
    const local = hostRules({ allowedHosts: [], publicUrl: "https://localhost:8443", port: 42617 });
    expect(local.allowsOrigin("https://localhost:8443", "localhost:8443")).toBe(true);
  });

  test.each([
    "null",
    "",
    "http://localhost",
    "http://localhost:3000",
    "http://svc.example.org",
    "https://evil.example",
    "https://evil.example:42617",
    "file://",
    "chrome-extension://abc:42617",
    "http://localhost:42617/",
    "http://localhost:42617, http://evil.example",
    "http://evil@localhost:42617",
    "http:\\\\localhost:42617",
    "//localhost:42617",
  ])("%j may not", (origin) => expect(rules.allowsOrigin(origin, "localhost:42617")).toBe(false));
});

describe("on the wire", () => {
  const ROUTES = ["/webhook", "/pair", "/metrics", "/api/status", "/nowhere"];

  test.each(ROUTES)("%s refuses a foreign Host and a foreign Origin before anything else", async (path) => {
    const gateway = await new Harness().start();
    const method = path === "/webhook" || path === "/pair" ? "POST" : "GET";
    const rebound = await call(gateway, { method, path, headers: { host: "evil.example" } });
    expect([rebound.status, rebound.json.code]).toEqual([403, "BAD_HOST"]);
    const crossSite = await call(gateway, { method, path, headers: { origin: "null" } });
    expect([crossSite.status, crossSite.json.code]).toEqual([403, "BAD_ORIGIN"]);
    expect(rebound.text + crossSite.text).not.toContain("evil");
  });

  test("/health answers whoever asks", async () => {
    const gateway = await new Harness().start();
    const answer = await call(gateway, { path: "/health", headers: { host: "evil.example", origin: "null" } });
    expect(answer.status).toBe(200);
  });

  test("an Origin on the port that was really taken passes", async () => {
    const gateway = await new Harness().start();
    const own = { origin: `http://localhost:${gateway.port}` };
    expect((await call(gateway, { path: "/metrics", headers: own })).status).toBe(200);
  });

  test.each([
    ["no Host in HTTP/1.1", "GET /metrics HTTP/1.1\r\nConnection: close\r\n\r\n", 400, "BAD_REQUEST"],
    ["no Host in HTTP/1.0", "GET /metrics HTTP/1.0\r\n\r\n", 403, "BAD_HOST"],
    [
      "two Hosts",
      "GET /metrics HTTP/1.1\r\nHost: localhost\r\nhost: evil\r\nConnection: close\r\n\r\n",
      400,
      "BAD_REQUEST",
    ],
    [
      "an absolute target of our own",
      "GET http://localhost/metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
      200,
      undefined,
    ],
    [
      "an absolute target elsewhere",
      "GET http://evil.example/metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
      403,
      "BAD_HOST",
    ],
    [
      "an absolute target with a foreign Host",
      "GET http://localhost/metrics HTTP/1.1\r\nHost: evil\r\nConnection: close\r\n\r\n",
      403,
      "BAD_HOST",
    ],
    ["the asterisk", "OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 400, "BAD_REQUEST"],
  ])("%s", async (_name, bytes, status, code) => {
    const gateway = await new Harness().start();
    const response = await raw(gateway, bytes);
    expect([statusOf(response), codeOf(response)]).toEqual([status, code]);
  });
});

describe("a page of another place, whose browser sends no Origin", () => {
  const PAGE = new Map([["/", { type: "text/html", bytes: Buffer.from("page"), isImmutable: false }]]);
  const LINK = { "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
  const started = () => {
    const harness = new Harness();
    harness.page = PAGE;
    return harness.start();
  };
  const code = async (gateway: Harness, path: string, headers: Record<string, string>, method = "GET") => {
    const answer = await call(gateway, { method, path, headers });
    return answer.json?.code ?? answer.status;
  };

  test.each(["cross-site", "same-site", "same-origin, cross-site", "", "x"])(
    "is refused everywhere but where platforms ask: Sec-Fetch-Site %j",
    async (site) => {
      const gateway = await started();
      for (const path of ["/", "/metrics", "/openapi.json", "/api/status", "/api/events", "/ws", "/nowhere"])
        expect([path, await code(gateway, path, { "sec-fetch-site": site })]).toEqual([path, "BAD_ORIGIN"]);
      for (const path of ["/webhook", "/pair", "/api/session", "/api/channel-events"])
        expect([path, await code(gateway, path, { "sec-fetch-site": site }, "POST")]).toEqual([path, "BAD_ORIGIN"]);
      expect(await code(gateway, "/health", { "sec-fetch-site": site })).toBe(200);
    },
  );

  test("is refused with an Origin of ours too, as a page of our own name at another one has", async () => {
    const gateway = await started();
    const headers = { origin: `http://localhost:${gateway.port}`, "sec-fetch-site": "cross-site" };
    expect(await code(gateway, "/api/status", headers)).toBe("BAD_ORIGIN");
  });

  test("may have a link to the page, and to nothing that says or does something", async () => {
    const gateway = await started();
    for (const site of ["cross-site", "same-site"]) {
      const headers = { ...LINK, "sec-fetch-site": site };
      expect(await code(gateway, "/", headers)).toBe(200);
      for (const path of ["/api/status", "/metrics", "/openapi.json", "/ws", "/nowhere"])
        expect([path, await code(gateway, path, headers)]).toEqual([path, "BAD_ORIGIN"]);
    }
  });

  test.each([
    ["a frame", { ...LINK, "sec-fetch-dest": "iframe" }],
    ["an object", { ...LINK, "sec-fetch-dest": "object" }],
    ["a script", { "sec-fetch-mode": "no-cors", "sec-fetch-dest": "script" }],
    ["an image", { "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image" }],
    ["nothing else that is known", {}],
  ])("may not have the page in %s", async (_name, headers) => {
    const gateway = await started();
    expect(await code(gateway, "/", { ...headers, "sec-fetch-site": "cross-site" })).toBe("BAD_ORIGIN");
  });

  test("what our page asks, a person types, and a program sends passes", async () => {
    const gateway = await started();
    for (const headers of [{ "sec-fetch-site": "same-origin" }, { "sec-fetch-site": "none" }, {}])
      for (const path of ["/", "/metrics", "/openapi.json"]) expect(await code(gateway, path, headers)).toBe(200);
  });

  test("an address of another machine, at our port, is another place on the wire too", async () => {
    const gateway = await started();
    const ask = (origin: string, host: string) => code(gateway, "/metrics", { origin, host });
    const { port } = gateway;
    expect(await ask(`http://192.168.7.9:${port}`, `127.0.0.1:${port}`)).toBe("BAD_ORIGIN");
    expect(await ask(`http://127.0.0.1:${port}`, `localhost:${port}`)).toBe("BAD_ORIGIN");
    expect(await ask(`http://127.0.0.1:${port}`, `127.0.0.1:${port}`)).toBe(200);
  });
});

describe("local only", () => {
  test.each(["x-forwarded-for", "forwarded", "x-real-ip", "via", "x-forwarded-host", "x-forwarded-proto"])(
    "a request that came with %s is not local, wherever its socket comes from",
    (name) => expect(isLocalOnly({ peerAddress: "127.0.0.1", headers: { [name]: "" } }, rules)).toBe(false),
  );

  test("a page of another site in a local browser is not local", () => {
    const from = (origin: string) => isLocalOnly({ peerAddress: "::1", headers: { origin } }, rules);
    expect([from("https://evil.example"), from("null"), from("http://localhost:42617")]).toEqual([false, false, true]);
  });
});
