// What a collector may do to us, over real sockets: be dead, slow, full, broken, hostile.
import type { ServerResponse } from "node:http";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { type ReadableSpan, TracerProvider } from "@opentelemetry/sdk-trace";
import { fakeClock } from "@svc/testkit/fake-clock";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ObservabilityConfig } from "../src/config.ts";
import { type Collector, type Outcome, openCollector } from "../src/export/collector.ts";
import { sectionOf } from "./open.ts";
import { answers, type Sink, startSink } from "./sink.ts";

const clock = fakeClock();
let sink: Sink;
const collectors: Collector[] = [];

beforeEach(async () => {
  sink = await startSink();
});
afterEach(async () => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  for (const collector of collectors.splice(0)) collector.close();
  await sink.close();
});

async function open(config: Partial<ObservabilityConfig> = {}): Promise<Collector> {
  const collector = await openCollector(sectionOf({ otel_endpoint: sink.url, ...config }), clock);
  collectors.push(collector);
  return collector;
}

function oneSpan(): ReadableSpan[] {
  const spans: ReadableSpan[] = [];
  const nothing = async (): Promise<void> => {};
  const processor = {
    onStart() {},
    onEnd: (span: ReadableSpan) => void spans.push(span),
    forceFlush: nothing,
    shutdown: nothing,
  };
  new TracerProvider({ spanProcessors: [processor] }).getTracer("test").startSpan("one").end();
  return spans;
}

/** The exporter waits by the runtime's timers before it tries again; here they run as fast as the sockets do. */
async function hurried(sending: Promise<Outcome>): Promise<Outcome> {
  const pending = Symbol("pending");
  const tick = async (): Promise<typeof pending> => {
    await vi.advanceTimersByTimeAsync(100);
    return new Promise((resolve) => setImmediate(resolve, pending));
  };
  for (;;) {
    const outcome = await Promise.race([sending, tick()]);
    if (outcome !== pending) return outcome;
  }
}
const hurry = (): unknown => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });

describe("statuses", () => {
  test("200 is taken", async () => {
    expect(await (await open()).send(oneSpan())).toEqual({ kind: "taken", rejected: 0 });
    expect(sink.spans).toMatchObject([{ name: "one" }]);
  });

  test.each([400, 401, 403, 404, 413, 500])("%s is for good, and asked once", async (status) => {
    sink.answer = answers(status);
    expect(await (await open()).send(oneSpan())).toEqual({ kind: "refused", reason: `status ${status}` });
    expect(sink.requests).toHaveLength(1);
  });

  test.each([301, 302, 303, 307, 308])("%s leads nowhere else", async (status) => {
    await using elsewhere = await startSink();
    sink.answer = answers(status, { location: `${elsewhere.url}/v1/traces` });
    expect(await (await open()).send(oneSpan())).toEqual({ kind: "refused", reason: `status ${status}` });
    expect(elsewhere.requests).toEqual([]);
  });

  test.each([
    ["60", 60_000],
    [new Date(clock.now() + 90_000).toUTCString(), 90_000],
    ["99999999", 3_600_000],
  ])("503 that asks to be left alone until %s", async (retryAfter, ms) => {
    // A date is read by the exporter too, on the machine's own clock.
    vi.useFakeTimers({ toFake: ["Date"], now: clock.now() });
    sink.answer = answers(503, { "retry-after": retryAfter });
    expect(await (await open()).send(oneSpan())).toEqual({ kind: "failed", reason: "unavailable", retryAfterMs: ms });
    expect(sink.requests).toHaveLength(1);
  });

  test("what one collector asks for is not another's", async () => {
    let breakOff = (): void => {};
    const asked = Promise.withResolvers<void>();
    await using broken = await startRaw((socket) =>
      socket.once("data", () => {
        breakOff = () => socket.write("no HTTP\r\n");
        asked.resolve();
      }),
    );
    const here = (await open({ otel_endpoint: broken.url })).send(oneSpan());
    await asked.promise;
    sink.answer = answers(503, { "retry-after": "77" });
    expect(await (await open()).send(oneSpan())).toMatchObject({ retryAfterMs: 77_000 });
    breakOff();
    expect(await here).toMatchObject({ kind: "failed", retryAfterMs: undefined });
  });

  test.each([429, 502, 503, 504])("%s is tried again before it is a failure", async (status) => {
    hurry();
    sink.answer = answers(status);
    const outcome = await hurried((await open()).send(oneSpan()));
    expect(outcome).toEqual({ kind: "failed", reason: "unavailable", retryAfterMs: undefined });
    expect(sink.requests.length).toBeGreaterThan(1);
  });

  test("one that was full for a moment takes it", async () => {
    hurry();
    sink.answer = (response, request) => {
      sink.answer = answers(200);
      answers(503)(response, request);
    };
    expect(await hurried((await open()).send(oneSpan()))).toMatchObject({ kind: "taken" });
    expect(sink.requests).toHaveLength(2);
  });
});

describe("answers that are none", () => {
  test("nobody listens", async () => {
    hurry();
    await sink.close();
    const outcome = await hurried((await open()).send(oneSpan()));
    expect(outcome).toEqual({ kind: "failed", reason: "ECONNREFUSED", retryAfterMs: undefined });
  });

  test("it speaks another protocol", async () => {
    await using ssh = await startRaw((socket) => socket.write("SSH-2.0-OpenSSH_9.2\r\n"));
    const outcome = await (await open({ otel_endpoint: ssh.url })).send(oneSpan());
    expect(outcome).toMatchObject({ kind: "failed", reason: expect.stringMatching(/^HPE_/) });
  });

  test("it hangs up", async () => {
    hurry();
    sink.answer = (response) => response.destroy();
    expect(await hurried((await open()).send(oneSpan()))).toMatchObject({ kind: "failed", reason: "ECONNRESET" });
  });

  test("200, and garbage", async () => {
    sink.answer = (response) => void response.writeHead(200).end("\u0000{not json");
    expect(await (await open()).send(oneSpan())).toEqual({ kind: "taken", rejected: 0 });
    await using raw = await startRaw((socket) =>
      socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n\xff\xff\xff", "latin1")),
    );
    const collector = await open({ otel_endpoint: raw.url, otel_protocol: "http/protobuf" });
    expect(await collector.send(oneSpan())).toEqual({ kind: "taken", rejected: 0 });
  });

  test("200, and half of what it promised", async () => {
    sink.answer = (response) => {
      response.writeHead(200, { "content-length": "100" }).write("{");
      setImmediate(() => response.destroy());
    };
    expect(await (await open()).send(oneSpan())).toEqual({ kind: "taken", rejected: 0 });
  });

  test("200, and no end of it", async () => {
    sink.answer = (response) => {
      response.writeHead(200).on("error", () => {});
      const more = (): void =>
        void (response.destroyed || response.write("x".repeat(65_536), () => setImmediate(more)));
      more();
    };
    expect(await (await open()).send(oneSpan())).toMatchObject({ kind: "failed" });
  });

  test.each([
    ["nothing", () => {}],
    ["a byte and no more", (response: ServerResponse) => void response.writeHead(200).write("x")],
  ])("%s comes: it is cut off", async (_, answer) => {
    sink.answer = answer;
    const sending = (await open()).send(oneSpan());
    await sink.came(1);
    await clock.advance(10_000);
    expect(await sending).toEqual({ kind: "failed", reason: "timeout", retryAfterMs: undefined });
    await vi.waitFor(() => expect(sink.connections).toBe(0), { timeout: 120_000 });
    sink.answer = answers(200);
    expect(await collectors[0]!.send(oneSpan())).toMatchObject({ kind: "taken" });
  });
});

describe("spans it says it did not take", () => {
  test.each([
    ["http/json", '{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}', 3],
    ["http/json", '{"partialSuccess":{"rejectedSpans":4}}', 4],
    ["http/json", '{"partialSuccess":{"errorMessage":"only a warning"}}', 0],
    ["http/json", '{"partialSuccess":{"rejectedSpans":"many"}}', 0],
    ["http/json", '{"partialSuccess":{}}', 0],
  ] as const)("%s: %s", async (otel_protocol, body, rejected) => {
    sink.answer = (response) => void response.writeHead(200).end(body);
    expect(await (await open({ otel_protocol })).send(oneSpan())).toEqual({ kind: "taken", rejected });
  });

  test("in protobuf", async () => {
    // partial_success (field 1, 2 bytes): rejected_spans (field 1) = 3
    await using raw = await startRaw((socket) =>
      socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n\x0a\x02\x08\x03")),
    );
    const collector = await open({ otel_endpoint: raw.url, otel_protocol: "http/protobuf" });
    expect(await collector.send(oneSpan())).toEqual({ kind: "taken", rejected: 3 });
  });
});

describe("its end", () => {
  test("leaves no connection, in use or idle", async () => {
    hurry();
    const idle = await open();
    await idle.send(oneSpan());
    sink.answer = () => {};
    const busy = await open();
    const sending = busy.send(oneSpan());
    await sink.came(2);
    expect(sink.connections).toBe(2);
    idle.close();
    busy.close();
    // At once: it is not tried again, and no timer of the exporter's keeps the process.
    expect(await sending).toMatchObject({ kind: "failed" });
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
    await vi.waitFor(() => expect(sink.connections).toBe(0), { timeout: 120_000 });
  });

  test("ends what the exporter would try again", async () => {
    hurry();
    sink.answer = answers(503);
    const collector = await open();
    const sending = collector.send(oneSpan());
    while (vi.getTimerCount() === 0) await new Promise((resolve) => setImmediate(resolve));
    collector.close();
    await hurried(sending);
    expect(sink.requests).toHaveLength(1);
  });
});

describe("what is sent", () => {
  test.each([
    ["", "/v1/traces"],
    ["/", "/v1/traces"],
    ["/otlp", "/otlp/v1/traces"],
    ["/otlp/", "/otlp/v1/traces"],
  ])("a base that ends with %j: to %s", async (base, path) => {
    await (await open({ otel_endpoint: `${sink.url}${base}` })).send(oneSpan());
    expect(sink.requests).toMatchObject([{ path }]);
  });

  test("the headers of the config, decoded", async () => {
    await (await open({ otel_headers: "authorization=Bearer%20a%2Cb, x-tenant=7=8,, " })).send(oneSpan());
    expect(sink.requests[0]?.headers).toMatchObject({ authorization: "Bearer a,b", "x-tenant": "7=8" });
  });

  test.each(["no-pair", "=value", "bad name=x", "x=%zz", "x=%0d%0aevil:1", "x=%ff"])(
    "not %j, which is no header",
    async (pairs) => {
      const opening = open({ otel_headers: pairs });
      await expect(opening).rejects.toMatchObject({ code: "CONFIG_INVALID" });
      await expect(opening).rejects.not.toThrow(pairs);
    },
  );

  test("nothing that the environment has for other programs", async () => {
    await using other = await startSink();
    vi.stubEnv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=theirs,x-leak=1");
    vi.stubEnv("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "x-leak-2=2");
    vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", other.url);
    vi.stubEnv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", other.url);
    vi.stubEnv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip");
    vi.stubEnv("OTEL_EXPORTER_OTLP_CERTIFICATE", "/nowhere/ca.pem");
    expect(await (await open()).send(oneSpan())).toMatchObject({ kind: "taken" });
    expect(other.requests).toEqual([]);
    const { headers } = sink.requests[0]!;
    for (const name of ["authorization", "x-leak", "x-leak-2", "content-encoding"])
      expect(headers).not.toHaveProperty(name);
    expect(process.env["OTEL_EXPORTER_OTLP_COMPRESSION"]).toBe("gzip");
  });
});

async function startRaw(serve: (socket: Socket) => unknown): Promise<AsyncDisposable & { readonly url: string }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    serve(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
