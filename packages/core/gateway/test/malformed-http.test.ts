// Bytes that are no proper HTTP, half requests, and clients that stop in the middle. All of them get our error shape
// (or silence), none of them hurts the next client, and none of them is ever taken for a request it is not (smuggling).
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { readBody } from "../src/http/request.ts";
import { Harness, type HarnessOptions } from "./harness.ts";
import { call, codeOf, post, raw, splitResponses, statusOf, Wire } from "./http.ts";

const CRLF = "\r\n";
const MESSAGE = '{"message":"hi"}';

async function started(options: HarnessOptions = {}) {
  const harness = new Harness();
  const token = harness.device();
  const gateway = await harness.start(options);
  const head = (...lines: string[]) =>
    [
      "POST /webhook HTTP/1.1",
      "Host: localhost",
      `Authorization: Bearer ${token}`,
      "Content-Type: application/json",
      ...lines,
    ].join(CRLF) +
    CRLF +
    CRLF;
  return { gateway, token, head };
}

test("a long answer comes whole, whatever the parser refuses of the request that it is for", async () => {
  const { gateway } = await started();
  const asked = `GET /openapi.json HTTP/1.1${CRLF}Host: localhost${CRLF}Transfer-Encoding: chunked${CRLF}${CRLF}`;
  const trailers = `X-T: ${"x".repeat(20)}${CRLF}`.repeat(3_000);
  const wire = new Wire(gateway);
  wire.write(`${asked}1${CRLF}x${CRLF}0${CRLF}${trailers}${CRLF}`);
  const [answer = ""] = await wire.responses(1);
  wire.socket.end();
  expect(await wire.closed).toBe(answer);
});

describe("what the parser refuses", () => {
  test.each([
    ["garbage", "\x16\x03\x01 TLS?\r\n\r\n", 400, "BAD_REQUEST"],
    ["an unknown method", "FOO / HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "BAD_REQUEST"],
    ["an unknown version", "GET / HTTP/9.9\r\nHost: localhost\r\n\r\n", 400, "BAD_REQUEST"],
    [
      "two lengths",
      "POST /webhook HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
      400,
      "BAD_REQUEST",
    ],
    [
      "the same length twice",
      "POST /webhook HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
      400,
      "BAD_REQUEST",
    ],
    [
      "length and chunks",
      "POST /webhook HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      400,
      "BAD_REQUEST",
    ],
    [
      "a negative length",
      "POST /webhook HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
      400,
      "BAD_REQUEST",
    ],
    [
      "a hexadecimal length",
      "POST /webhook HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0x10\r\n\r\n",
      400,
      "BAD_REQUEST",
    ],
    [
      "another encoding after chunked",
      "POST /webhook HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked, identity\r\n\r\n",
      400,
      "BAD_REQUEST",
    ],
    ["a blank before the colon", "GET / HTTP/1.1\r\nHost : localhost\r\n\r\n", 400, "BAD_REQUEST"],
    ["a folded header", "GET / HTTP/1.1\r\nHost: localhost\r\n folded\r\n\r\n", 400, "BAD_REQUEST"],
    ["a bare line feed as end of headers", "GET /health HTTP/1.1\r\nHost: localhost\n\n", 400, "BAD_REQUEST"],
    [
      "headers of 17 KiB",
      `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${"x".repeat(17_408)}\r\n\r\n`,
      431,
      "HEADERS_TOO_LARGE",
    ],
    ["a target of 17 KiB", `GET /${"x".repeat(17_408)} HTTP/1.1\r\nHost: localhost\r\n\r\n`, 431, "HEADERS_TOO_LARGE"],
  ])("%s", async (_name, bytes, status, code) => {
    const { gateway } = await started();
    const response = await raw(gateway, bytes);
    expect([statusOf(response), codeOf(response)]).toEqual([status, code]);
    expect(response.toLowerCase()).toContain("connection: close");
    expect(splitResponses(response)).toHaveLength(1);
    expect(gateway.turns).toHaveLength(0);
    expect((await call(gateway, { path: "/health" })).status).toBe(200);
  });

  test("a chunk that is no chunk: 400, and the turn never runs", async () => {
    const { gateway, head } = await started();
    const response = await raw(gateway, `${head("Transfer-Encoding: chunked")}zz${CRLF}`);
    expect([statusOf(response), codeOf(response), gateway.turns.length]).toEqual([400, "BAD_REQUEST", 0]);
  });

  test("an expectation other than 100-continue", async () => {
    const { gateway, head } = await started();
    const response = await raw(gateway, head("Expect: the-unexpected", "Connection: close", "Content-Length: 0"));
    expect([statusOf(response), codeOf(response)]).toEqual([400, "BAD_REQUEST"]);
  });

  test("a CONNECT, which Node would end without a word", async () => {
    const { gateway } = await started();
    const response = await raw(gateway, "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n");
    expect([statusOf(response), codeOf(response)]).toEqual([400, "BAD_REQUEST"]);
  });

  test("an upgrade nobody offers is an ordinary request", async () => {
    const { gateway } = await started();
    const lines = "Host: localhost\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n";
    expect(statusOf(await raw(gateway, `GET /nowhere HTTP/1.1\r\n${lines}`))).toBe(404);
  });

  test("a target that is no URL is 400 in our shape, also where hono would see it", async () => {
    const { gateway } = await started();
    for (const target of ["/api\\status", "nowhere", "//"]) {
      const response = await raw(gateway, `GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
      expect([400, 404]).toContain(statusOf(response));
      expect(codeOf(response)).toMatch(/BAD_REQUEST|NOT_FOUND/);
    }
  });
});

describe("bodies on the wire", () => {
  test("byte by byte, in chunks without a length", async () => {
    const { gateway, head } = await started();
    const wire = new Wire(gateway);
    wire.write(head("Transfer-Encoding: chunked", "Connection: close"));
    for (const byte of MESSAGE) {
      wire.write(`1${CRLF}${byte}${CRLF}`);
      await new Promise((resolve) => setImmediate(resolve));
    }
    wire.write(`0${CRLF}${CRLF}`);
    const response = await wire.closed;
    expect([statusOf(response), gateway.turns[0]?.text]).toEqual([200, "hi"]);
  });

  test("half of one, then gone: no turn, no crash", async () => {
    const { gateway, token, head } = await started();
    for (const end of ["destroy", "resetAndDestroy"] as const) {
      const wire = new Wire(gateway);
      wire.write(head("Content-Length: 16") + MESSAGE.slice(0, 8));
      while (gateway.gateway.connections === 0) await new Promise((resolve) => setImmediate(resolve));
      wire.socket[end]();
      while (gateway.gateway.connections > 0) await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await post(gateway, token)).status).toBe(200);
    expect(gateway.turns).toHaveLength(1);
  });

  test("a body that stops in the middle ends the wait for it", async () => {
    const incoming = new IncomingMessage(new Socket());
    incoming.headers["content-length"] = "16";
    const body = readBody(incoming, new ServerResponse(incoming), 1024);
    incoming.push("half");
    incoming.destroy(new Error("aborted"));
    expect(await body).toBe("gone");
  });

  test("exactly the limit is taken, one byte more is 413: declared, and counted", async () => {
    const { gateway, head } = await started({ config: { max_body_bytes: 1024 } });
    const body = (bytes: number) => `{"message":"${"x".repeat(bytes - 14)}"}`;
    const declared = (bytes: number) =>
      raw(gateway, head(`Content-Length: ${bytes}`, "Connection: close") + body(bytes));
    const chunked = (bytes: number) =>
      raw(
        gateway,
        `${head("Transfer-Encoding: chunked", "Connection: close")}${bytes.toString(16)}${CRLF}${body(bytes)}${CRLF}0${CRLF}${CRLF}`,
      );
    expect([statusOf(await declared(1024)), statusOf(await chunked(1024))]).toEqual([200, 200]);
    for (const response of [await declared(1025), await chunked(1025)]) {
      expect([statusOf(response), codeOf(response)]).toEqual([413, "TOO_LARGE"]);
    }
    expect(gateway.turns).toHaveLength(2);
  });

  test("a client that sends on after its 413 still gets to read it, and is cut off in the end", async () => {
    const { gateway, head } = await started({ config: { max_body_bytes: 1024 } });
    const wire = new Wire(gateway);
    wire.write(head("Transfer-Encoding: chunked"));
    const chunk = `1000${CRLF}${"x".repeat(4096)}${CRLF}`;
    wire.write(chunk);
    const [response] = await wire.responses(1);
    expect(statusOf(response!)).toBe(413);
    expect(response!.toLowerCase()).toContain("connection: close");
    for (let count = 0; count < 20; count += 1) wire.write(chunk);
    await gateway.clock.advance(2_000);
    expect(splitResponses(await wire.closed)).toHaveLength(1);
  });

  test("one that lies about a huge length is refused before a byte of it is read", async () => {
    const { gateway, head } = await started();
    const wire = new Wire(gateway);
    wire.write(head("Content-Length: 99999999999"));
    const [response] = await wire.responses(1);
    expect(statusOf(response!)).toBe(413);
    await gateway.clock.advance(2_000);
    await wire.closed;
  });

  test("Expect: 100-continue: whoever is refused is not asked for the body, whoever is not is", async () => {
    const { gateway, head } = await started();
    const refused = new Wire(gateway);
    refused.write(
      `POST /webhook HTTP/1.1${CRLF}Host: localhost${CRLF}Content-Length: 16${CRLF}Expect: 100-continue${CRLF}${CRLF}`,
    );
    expect(statusOf((await refused.responses(1))[0]!)).toBe(401);
    refused.socket.destroy();
    const wire = new Wire(gateway);
    wire.write(head("Content-Length: 16", "Expect: 100-continue", "Connection: close"));
    expect(statusOf((await wire.responses(1))[0]!)).toBe(100);
    wire.write(MESSAGE);
    expect((await wire.closed).includes("echo: hi")).toBe(true);
  });
});

describe("one connection, many requests", () => {
  test("pipelined requests are answered in their order, refused ones among them", async () => {
    const { gateway, head } = await started();
    const good = head("Content-Length: 16") + MESSAGE;
    const bad = `POST /webhook HTTP/1.1${CRLF}Host: localhost${CRLF}Content-Length: 16${CRLF}${CRLF}${MESSAGE}`;
    const last = head("Content-Length: 16", "Connection: close") + MESSAGE;
    const responses = splitResponses(await raw(gateway, good + bad + good + last));
    expect(responses.map(statusOf)).toEqual([200, 401, 200, 200]);
  });

  test("garbage after a request whose turn runs: that answer still comes, whole, and is the last", async () => {
    let finish = () => {};
    const running = new Promise<void>((resolve) => (finish = resolve));
    const { gateway, head } = await started({ run: async () => (await running, {}) });
    const wire = new Wire(gateway);
    wire.write(`${head("Content-Length: 16")}${MESSAGE}GARBAGE${CRLF}${CRLF}`);
    while (gateway.turns.length === 0) await new Promise((resolve) => setImmediate(resolve));
    wire.write("MORE GARBAGE\r\n\r\n");
    await new Promise((resolve) => setImmediate(resolve));
    finish();
    const responses = splitResponses(await wire.closed);
    expect(responses.map(statusOf)).toEqual([200]);
    expect(responses[0]).toContain("echo: hi");
  });

  test("the unread body of a refused request is not the next request", async () => {
    const { gateway } = await started();
    const smuggled = `GET /metrics HTTP/1.1${CRLF}Host: localhost${CRLF}${CRLF}`;
    const refused = `POST /webhook HTTP/1.1${CRLF}Host: localhost${CRLF}Content-Length: ${smuggled.length}${CRLF}${CRLF}${smuggled}`;
    const last = `GET /health HTTP/1.1${CRLF}Host: localhost${CRLF}Connection: close${CRLF}${CRLF}`;
    expect(splitResponses(await raw(gateway, refused + last)).map(statusOf)).toEqual([401, 200]);
  });
});
