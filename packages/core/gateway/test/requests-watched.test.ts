// Every request is a piece of work for whoever watches: begun once, ended once, by a route from a bounded set, whatever is
// asked for; a stream must not count as a request of hours; and where nobody watches nothing is made.
import { type Tracer, NO_TRACER, currentScope } from "@svc/runtime";
import { recordedInstruments } from "@svc/testkit/observe/recorded-tracer";
import type { RecordedWork } from "@svc/testkit/observe/recording-observer";
import { describe, expect, test } from "vitest";
import { bearer, SocketReader } from "./event-stream.ts";
import { channelWith, delivery } from "./channel.ts";
import { Harness, type HarnessOptions, route } from "./harness.ts";
import { type Call, call, raw, until, Wire } from "./http.ts";
import { upgradeBytes } from "./socket-fixture.ts";

async function watching(options: HarnessOptions = {}) {
  const gateway = new Harness();
  const headers = bearer(gateway.device("operator"));
  const { tracer, recorded } = recordedInstruments(gateway.clock);
  gateway.sops.paths.set("/build/done", { runs: [], skipped: [] });
  gateway.page = new Map([["/", { type: "text/html", bytes: Buffer.from("<p>"), isImmutable: false }]]);
  await gateway.start({ tracer, ...options });
  const requests = (): readonly RecordedWork<"request">[] => recorded.of("request");
  const told = (): unknown[] => requests().map(({ facts, result }) => [facts.method, facts.route, result?.status]);
  return { gateway, headers, tracer, recorded, requests, told };
}

const MESSAGE = { method: "POST", path: "/webhook", body: '{"message":"hi"}' };
const json = { "content-type": "application/json" };
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SENT = `00-${TRACE}-b7ad6b7169203331-01`;

describe("routes", () => {
  test("are patterns and never paths; what is nobody's, and what the door refuses, is other", async () => {
    const { gateway, headers, told, recorded } = await watching({
      routes: [route("GET", "/api/plugins"), route("GET", "/api/plugins/{name}")],
      ingress: [channelWith()],
    });
    const asked: [string, string, Call["headers"]?, string?][] = [
      ["POST", "/webhook", { ...headers, ...json }, '{"message":"hi"}'],
      ["POST", "/webhook", json, '{"message":"hi"}'],
      ["GET", "/webhook"],
      ["GET", "/health?probe=1"],
      ["HEAD", "/metrics"],
      ["GET", "/"],
      ["GET", "/api/status", headers],
      ["GET", "/api/sessions/somebody%27s", headers],
      ["GET", "/api/sessions/x%2Fy/messages", headers],
      ["GET", "/api/sess%69ons/x/messages", headers],
      ["OPTIONS", "/api/sessions/abc/messages"],
      ["GET", "/api/plugins", headers],
      ["GET", "/api/plugins/weather", headers],
      ["POST", "/provider-a", delivery().headers, String(delivery().body)],
      ["POST", "/build/done", { ...headers, ...json }, "{}"],
      ["GET", "/nowhere/user-17"],
      ["GET", "/x/../api/status", headers],
      ["GET", "/api/status", { host: "evil.example" }],
      ["PROPFIND", "/health"],
    ];
    for (const [method, path, sent = {}, body] of asked)
      await call(gateway, { method, path, headers: sent, ...(body !== undefined && { body }) });
    expect(told()).toEqual([
      ["POST", "/webhook", 200],
      ["POST", "/webhook", 401],
      ["GET", "/webhook", 405],
      ["GET", "/health", 200],
      ["HEAD", "/metrics", 200],
      ["GET", "page", 200],
      ["GET", "/api/status", 200],
      ["GET", "/api/sessions/{id}", 404],
      ["GET", "/api/sessions/{id}/messages", 404],
      ["GET", "other", 404],
      ["OPTIONS", "/api/sessions/{id}/messages", 204],
      ["GET", "/api/plugins", 200],
      ["GET", "/api/plugins/{name}", 200],
      ["POST", "/provider-a", 200],
      ["POST", "sop", 202],
      ["GET", "other", 404],
      ["GET", "other", 404],
      ["GET", "other", 403],
      ["other", "/health", 405],
    ]);
    expect(recorded.open).toEqual([]);
  });

  test("what is refused for its framing or its expectation is counted too", async () => {
    const { gateway, told } = await watching();
    await raw(
      gateway,
      "POST /webhook HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    );
    await raw(gateway, "GET /health HTTP/1.1\r\nHost: localhost\r\nExpect: cake\r\nConnection: close\r\n\r\n");
    expect(told()).toEqual([
      ["POST", "other", 400],
      ["GET", "other", 400],
    ]);
  });

  test("a request that waits for the library of /api is one request", async () => {
    const { gateway, headers, told } = await watching();
    await Promise.all(["/api/status", "/api/tools"].map((path) => call(gateway, { path, headers })));
    expect(told().toSorted()).toEqual([
      ["GET", "/api/status", 200],
      ["GET", "/api/tools", 200],
    ]);
  });
});

describe("its end", () => {
  test("is the answer's, as long as the turn takes", async () => {
    const answer = Promise.withResolvers<void>();
    const { gateway, headers, requests } = await watching({ run: () => answer.promise.then(() => ({})) });
    const called = call(gateway, { ...MESSAGE, headers: { ...headers, ...json } });
    await until(() => gateway.turns.length === 1);
    const [request] = requests();
    expect(request?.result).toBeUndefined();
    await gateway.clock.advance(40_000);
    answer.resolve();
    await called;
    expect(request?.result).toEqual({ status: 200 });
    expect(request!.endedAtMs! - request!.startedAtMs).toBe(40_000);
  });

  test("without a status when the client went away before there was one", async () => {
    const { gateway, headers, requests, recorded } = await watching({ run: () => new Promise(() => {}) });
    const wire = new Wire(gateway);
    wire.write(
      `POST /webhook HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
        `Authorization: ${headers.authorization}\r\nContent-Length: 16\r\n\r\n{"message":"hi"}`,
    );
    await until(() => gateway.turns.length === 1);
    wire.socket.destroy();
    await until(() => recorded.open.length === 0);
    expect(requests().map(({ result }) => result)).toEqual([{ status: undefined }]);
  });

  test("is the answer's, however long the client takes to take it, or goes on sending", async () => {
    const text = async (): Promise<string> => "x".repeat(64 * 1_048_576);
    const { gateway, headers, requests } = await watching({ exposition: { text } });
    const slow = new Wire(gateway);
    slow.socket.pause();
    slow.write("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await until(() => requests()[0]?.result !== undefined);
    const sending = new Wire(gateway);
    sending.write(
      `POST /webhook HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
        `Authorization: ${headers.authorization}\r\nContent-Length: 9000000\r\n\r\n{`,
    );
    await until(() => requests()[1]?.result !== undefined);
    expect(requests().map(({ result }) => result)).toEqual([{ status: 200 }, { status: 413 }]);
    expect([slow.socket.closed, sending.socket.closed]).toEqual([false, false]);
    slow.socket.destroy();
    sending.socket.destroy();
  });

  test("of a stream when its head is out", async () => {
    const { gateway, headers, told } = await watching();
    const wire = new Wire(gateway);
    wire.write(`GET /api/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${headers.authorization}\r\n\r\n`);
    await until(() => told().length === 1);
    expect(told()).toEqual([["GET", "/api/events", 200]]);
    wire.socket.destroy();
  });

  test("of a WebSocket when it is open, or is refused", async () => {
    const { gateway, headers, told } = await watching();
    const socket = await SocketReader.open(gateway, { headers });
    expect(told()).toEqual([["GET", "/ws", 101]]);
    await SocketReader.open(gateway, {});
    await raw(gateway, upgradeBytes(`Authorization: ${headers.authorization}\r\n`).replace(/Key: \S+/, "Key: short"));
    expect(told().slice(1)).toEqual([
      ["GET", "/ws", 401],
      ["GET", "/ws", 400],
    ]);
    expect(socket).toBeInstanceOf(SocketReader);
  });

  test("whoever stops to watch meanwhile is told of it all the same", async () => {
    const answer = Promise.withResolvers<void>();
    const gateway = new Harness();
    const { tracer: recording, recorded } = recordedInstruments(gateway.clock);
    let isWatched = true;
    const tracer: Tracer = {
      get isWatched() {
        return isWatched;
      },
      begin: (...given) => (isWatched ? recording : NO_TRACER).begin(...given),
    };
    const headers = { ...bearer(gateway.device("operator")), ...json };
    await gateway.start({ tracer, run: () => answer.promise.then(() => ({})) });
    const called = call(gateway, { ...MESSAGE, headers });
    await until(() => gateway.turns.length === 1);
    isWatched = false;
    answer.resolve();
    await called;
    expect(recorded.of("request")[0]?.result).toEqual({ status: 200 });
  });
});

describe("traces", () => {
  test("a caller's traceparent is the parent, and what serves the request is part of it", async () => {
    const seen: unknown[] = [];
    const { gateway, headers, requests } = await watching({
      run: async () => {
        seen.push(currentScope().traceparent);
        return {};
      },
    });
    await call(gateway, { ...MESSAGE, headers: { ...headers, ...json, traceparent: SENT } });
    const [request] = requests();
    expect(request?.parent).toBe(SENT);
    expect(request?.traceparent).toMatch(TRACE);
    expect(seen).toEqual([request?.traceparent]);
  });

  test.each([
    "garbage",
    SENT.toUpperCase(),
    `01-${TRACE}-b7ad6b7169203331-01`,
    `00-${"0".repeat(32)}-b7ad6b7169203331-01`,
    `${SENT}-more`,
    "",
  ])("one that is malformed is ignored, and never logged: %j", async (traceparent) => {
    const { gateway, headers, requests } = await watching({ run: () => Promise.reject(new Error("unforeseen")) });
    await call(gateway, { ...MESSAGE, headers: { ...headers, ...json, traceparent } });
    expect(requests().map(({ parent }) => parent)).toEqual([undefined]);
    expect(traceparent !== "" && gateway.log.text().includes(traceparent)).toBe(false);
  });

  test("of two, neither is taken", async () => {
    const { gateway, requests } = await watching();
    await raw(
      gateway,
      `GET /health HTTP/1.1\r\nHost: localhost\r\ntraceparent: ${SENT}\r\ntraceparent: ${SENT}\r\nConnection: close\r\n\r\n`,
    );
    expect(requests().map(({ parent }) => parent)).toEqual([undefined]);
  });
});

test("where nobody watches nothing is begun", async () => {
  let begun = 0;
  const tracer: Tracer = {
    isWatched: false,
    begin: (...given) => {
      begun += 1;
      return NO_TRACER.begin(...given);
    },
  };
  const { gateway, headers } = await watching({ tracer });
  await call(gateway, { ...MESSAGE, headers: { ...headers, ...json } });
  await call(gateway, { path: "/api/status", headers });
  await SocketReader.open(gateway, { headers });
  expect(begun).toBe(0);
});
