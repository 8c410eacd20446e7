// The page at `/`: what a browser is told it may do, what it may keep, in which encoding, and that nothing but its files is there.
import { gunzipSync, gzipSync } from "node:zlib";
import { request } from "node:http";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { acceptsGzip } from "../src/http/reply.ts";
import type { PageFile } from "../src/index.ts";
import { channelWith } from "./channel.ts";
import { Harness, type HarnessOptions } from "./harness.ts";
import { call, codeOf, raw, statusOf } from "./http.ts";

const HTML = "<!doctype html><title>svc</title><script type=module src=/assets/app-1a2b.js></script>".repeat(20);
const file = (type: string, text: string, isImmutable = false, compressed = true): PageFile => ({
  type,
  bytes: Buffer.from(text),
  ...(compressed && { gzip: gzipSync(text) }),
  isImmutable,
});
const PAGE = new Map([
  ["/", file("text/html; charset=utf-8", HTML)],
  ["/assets/app-1a2b.js", file("text/javascript; charset=utf-8", "export {}; ".repeat(50), true)],
  ["/favicon.svg", file("image/svg+xml", "<svg/>", false, false)],
  ["/sw.js", file("text/javascript; charset=utf-8", "self;", false, false)],
]);

async function started(options: HarnessOptions = {}): Promise<Harness> {
  const harness = new Harness();
  harness.page = PAGE;
  return harness.start(options);
}

const get = (to: Harness, path = "/", headers: Record<string, string> = {}, method = "GET") =>
  call(to, { method, path, headers });

/** The bytes as they came. */
const bytesOf = (to: Harness, path: string, headers: Record<string, string>): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    request({ host: "127.0.0.1", port: to.port, path, headers, agent: false }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk)).on("end", () => resolve(Buffer.concat(chunks)));
    })
      .on("error", reject)
      .end();
  });

describe("a file of the page", () => {
  test("may run, show and ask nothing that is not from here, and stand in no frame", async () => {
    const { status, headers, text } = await get(await started());
    expect([status, headers["content-type"], text]).toEqual([200, "text/html; charset=utf-8", HTML]);
    expect(headers).toMatchObject({
      "content-security-policy":
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
        "worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "x-frame-options": "DENY",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "permissions-policy": expect.stringMatching(/^camera=\(\).* microphone=\(self\)/),
    });
    expect(headers["set-cookie"]).toBeUndefined();
  });

  test("is kept for good when its name changes with it, and asked about each time when it does not", async () => {
    const gateway = await started();
    const kept = async (path: string) => (await get(gateway, path)).headers["cache-control"];
    expect(await kept("/assets/app-1a2b.js")).toBe("public, max-age=31536000, immutable");
    for (const path of ["/", "/sw.js", "/favicon.svg"]) expect(await kept(path)).toBe("no-cache");
  });

  test.each(["gzip", "br, GZIP;q=0.5", "*", "x-gzip", "deflate, *;q=0.1"])(
    "comes compressed for %s",
    async (accepted) => {
      const gateway = await started();
      const { headers } = await get(gateway, "/", { "accept-encoding": accepted });
      expect([headers["content-encoding"], headers["vary"]]).toEqual(["gzip", "accept-encoding"]);
      const bytes = await bytesOf(gateway, "/", { "accept-encoding": accepted });
      expect([gunzipSync(bytes).toString(), String(bytes.length)]).toEqual([HTML, headers["content-length"]]);
    },
  );

  test.each(["", "identity", "br", "gzip;q=0", "gzip; q=0.000, *", "*;q=0", "gzipped"])(
    "comes plain for %j",
    async (accepted) => {
      const { headers, text } = await get(await started(), "/", { "accept-encoding": accepted });
      expect([headers["content-encoding"], headers["vary"], text]).toEqual([undefined, "accept-encoding", HTML]);
    },
  );

  test("that is not smaller compressed comes plain for everybody", async () => {
    const { headers, text } = await get(await started(), "/favicon.svg", { "accept-encoding": "gzip" });
    expect([headers["content-encoding"], headers["vary"], text]).toEqual([undefined, undefined, "<svg/>"]);
  });

  test("is not sent to whoever has it, in whichever encoding", async () => {
    const gateway = await started();
    const { etag } = (await get(gateway)).headers;
    const strong = String(etag).slice(2);
    for (const known of [etag, strong, "*", `"x", ${strong}`, `"a",W/"b" ,${etag}`].map(String)) {
      const answer = await get(gateway, "/", { "if-none-match": known, "accept-encoding": "gzip" });
      expect([answer.status, answer.text, answer.headers["etag"], answer.headers["content-length"]]).toEqual([
        304,
        "",
        etag,
        undefined,
      ]);
      expect(answer.headers).toMatchObject({ "cache-control": "no-cache", vary: "accept-encoding" });
    }
    for (const other of ['"x"', "", "W/", strong.slice(1, -1)]) {
      expect((await get(gateway, "/", { "if-none-match": other })).status).toBe(200);
    }
    const others = await Promise.all([...PAGE.keys()].map(async (path) => (await get(gateway, path)).headers["etag"]));
    expect(new Set(others).size).toBe(PAGE.size);
  });

  test("answers HEAD like GET, and a part of it is not to be had", async () => {
    const gateway = await started();
    const { date: _first, connection: _kept, ...plain } = (await get(gateway)).headers;
    const head = await get(gateway, "/", {}, "HEAD");
    expect([head.status, head.text]).toEqual([200, ""]);
    expect(head.headers).toMatchObject(plain);
    const part = await get(gateway, "/", { range: "bytes=0-3", "if-range": String(plain["etag"]) });
    expect([part.status, part.text, part.headers["accept-ranges"]]).toEqual([200, HTML, undefined]);
  });

  test.each(["POST", "PUT", "DELETE", "PATCH"])("does not take %s", async (method) => {
    const answer = await get(await started(), "/", {}, method);
    expect([answer.status, answer.headers["allow"]]).toEqual([405, "GET, HEAD, OPTIONS"]);
  });

  test("is there for whoever asks under a name of ours, with or without a sign-in, also while the service stops", async () => {
    const gateway = await started();
    expect((await get(gateway, "/", { host: "evil.example" })).json.code).toBe("BAD_HOST");
    expect((await get(gateway, "/", { origin: "https://evil.example" })).json.code).toBe("BAD_ORIGIN");
    expect((await get(gateway, "/?x=1", { authorization: "Bearer x", cookie: "svc_session=x" })).status).toBe(200);
    gateway.gateway.drain();
    expect((await get(gateway)).status).toBe(200);
  });
});

describe("nothing but the files", () => {
  test.each([
    "/index.html",
    "/assets",
    "/assets/",
    "/assets/app-1a2b.js/",
    "/assets/app-1a2b.js%00",
    "/assets/APP-1A2B.js",
    "/assets/../sw.js",
    "/assets/../../../../etc/passwd",
    "/assets/%2e%2e/sw.js",
    "/assets/..%2fsw.js",
    "/assets/..\\sw.js",
    "/./",
    "//",
    "/%2f",
    "/sessions",
    "/api/../",
    "/__proto__",
  ])("%s is 404", async (path) => {
    const gateway = await started();
    const answer = await raw(gateway, `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    expect([statusOf(answer), codeOf(answer)]).toEqual([404, "NOT_FOUND"]);
  });

  test("not even those in a build without the page", async () => {
    const gateway = await new Harness().start();
    for (const path of PAGE.keys()) expect((await get(gateway, path)).status).toBe(404);
  });

  test("a channel can't take the place of one", async () => {
    const harness = new Harness();
    harness.page = PAGE;
    await expect(harness.start({ ingress: [channelWith({ path: "/favicon.svg" })] })).rejects.toMatchObject({
      code: "FEATURE_CONFLICT",
    });
  });
});

test("gzip is sent to nobody who did not ask for it, whatever the header", () => {
  const quality = fc.constantFrom("", ";q=1", ";q=0.001", "; q=0", ";Q=0.0", ";q=0.000");
  const coding = fc.tuple(fc.constantFrom("gzip", "br", "*", "identity", "x"), quality);
  fc.assert(
    fc.property(fc.array(coding, { maxLength: 4 }), (codings) => {
      const isNo = (text: string): boolean => /q=0(\.0*)?$/i.test(text);
      const gzip = codings.find(([name]) => name === "gzip");
      const any = codings.findLast(([name]) => name === "*");
      const decisive = gzip ?? any;
      expect(acceptsGzip(codings.map((one) => one.join("")).join(", "))).toBe(
        decisive !== undefined && !isNo(decisive[1]),
      );
    }),
  );
  fc.assert(
    fc.property(
      fc.string().filter((text) => !/gzip|\*/i.test(text)),
      (text) => !acceptsGzip(text),
    ),
  );
});
