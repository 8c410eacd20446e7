// Host and Origin: a web page must not be able to use a visitor's browser against a gateway on his machine (DNS
// rebinding, cross-site requests), while every honest way to name the gateway works.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hostRules } from "../src/net/host-rules.ts";
import { isLocalOnly } from "../src/net/local-only.ts";
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
    "http://localhost:42617",
    "http://127.0.0.1:42617",
    "https://[::1]:42617",
    "https://svc.example.org",
    "https://svc.example.org:443",
    "http://bot.internal:42617",
  ])("%s may ask", (origin) => expect(rules.allowsOrigin(origin)).toBe(true));

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
  ])("%j may not", (origin) => expect(rules.allowsOrigin(origin)).toBe(false));
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
