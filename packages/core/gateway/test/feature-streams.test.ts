// Streams of features: what a client is sent, and that one that is slow, gone, revoked or too many costs neither memory nor others.
import { type Route, type RouteEvent, type RouteStreamRequest, SvcError } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { bearer, EventReader } from "./event-stream.ts";
import { Harness, type HarnessOptions, route } from "./harness.ts";
import { call, tick, until } from "./http.ts";

const PATH = "/api/things/{id}/events";
const ACCEPT = { accept: "text/event-stream" };
const LARGE = "x".repeat(100_000);

type Events = (request: RouteStreamRequest) => AsyncIterable<RouteEvent>;

async function started(events: Events, options: HarnessOptions = {}) {
  const asked: RouteStreamRequest[] = [];
  const streamed: Route = {
    ...route("GET", PATH, () => Promise.resolve({ status: 200, body: { whole: true } })),
    async stream(request) {
      if (request.params["id"] === "unknown") throw new SvcError("NOT_FOUND");
      asked.push(request);
      return events(request);
    },
  };
  const harness = new Harness();
  const token = harness.device("operator");
  await harness.start({ routes: [streamed], ...options });
  const open = (headers: Readonly<Record<string, string>> = {}, method = "GET", path = "/api/things/a/events") =>
    EventReader.open(harness, { ...bearer(token), ...ACCEPT, ...headers }, method, path);
  return { harness, token, asked, open };
}

/** Tells what is pushed until its client is gone. */
class Source {
  waiting: RouteEvent[] = [];
  /** How many events were asked for. */
  taken = 0;
  isOver = false;
  #wake = (): void => {};

  push(...events: RouteEvent[]): void {
    this.waiting.push(...events);
    this.#wake();
  }

  readonly events: Events = async function* (this: Source, { signal }: RouteStreamRequest) {
    signal.addEventListener("abort", () => this.#wake());
    try {
      while (!signal.aborted) {
        const next = this.waiting.shift();
        if (next) {
          this.taken += 1;
          yield next;
        } else await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    } finally {
      this.isOver = true;
    }
  }.bind(this);
}

const event = (n: number, data: string = `text ${n}`): RouteEvent => ({ id: String(n), type: "text", data });
const none: Events = async function* () {};

describe("what a client is sent", () => {
  test("the events as they come, each with its id; the answer in one piece without the Accept", async () => {
    const source = new Source();
    const { harness, token, asked, open } = await started(source.events);
    const reader = await open({ "last-event-id": "6" });
    expect([reader.status, reader.response.headers["content-type"]]).toEqual([200, "text/event-stream; charset=utf-8"]);
    expect(asked[0]).toMatchObject({ params: { id: "a" }, lastEventId: "6", caller: { kind: "device" } });
    source.push(event(7, "one\ntwo"));
    await until(() => reader.text.includes("two"));
    expect(reader.text).toBe(`retry: 2000\n\nid: 7\nevent: text\ndata: "one\\ntwo"\n\n`);
    const whole = await call(harness, { path: "/api/things/a/events", headers: bearer(token) });
    expect(whole.json).toEqual({ whole: true });
    const refused = { ...bearer(token), accept: "text/event-stream;q=0, application/json" };
    expect((await call(harness, { path: "/api/things/a/events", headers: refused })).json).toEqual({ whole: true });
  });

  test("its end when the feature has no more, and the answer's head for HEAD", async () => {
    const { open } = await started(async function* () {
      yield event(1);
    });
    const reader = await open();
    await until(() => reader.isOver);
    expect(reader.events).toEqual(["text 1"]);
    const head = await open({}, "HEAD");
    await until(() => head.isOver);
    expect([head.status, head.text]).toEqual([200, ""]);
  });

  test("an error instead of a stream, and one in it", async () => {
    const { harness, token, open } = await started(async function* () {
      yield event(1);
      throw new SvcError("STORE_FAILED");
    });
    const headers = { ...bearer(token), ...ACCEPT };
    const refused = await EventReader.open(harness, headers, "GET", "/api/things/unknown/events");
    expect(refused.status).toBe(404);
    const reader = await open();
    await until(() => reader.isOver);
    expect(reader.text).toContain("event: error\n");
    expect(reader.events.at(-1)).toMatchObject({ code: "STORE_FAILED" });
  });

  test("nothing of what a broken feature throws", async () => {
    const { promise: isRead, resolve: read } = Promise.withResolvers<void>();
    const { harness, open } = await started(async function* () {
      yield event(1);
      await isRead;
      throw new TypeError("private");
    });
    const reader = await open();
    await until(() => reader.events.length === 1);
    read();
    await until(() => reader.isOver);
    expect(reader.text).not.toContain("private");
    expect(harness.log.lines.some(({ fields }) => fields?.["path"] === PATH)).toBe(true);
  });
});

describe("a client that", () => {
  test("does not read is asked for no more events, then reads them all", async () => {
    const source = new Source();
    const { open } = await started(source.events);
    const reader = await open();
    reader.response.pause();
    const count = 300;
    source.push(...Array.from({ length: count }, (_, n) => event(n + 1, LARGE)));
    let before = -1;
    while (before !== source.taken) {
      before = source.taken;
      for (let round = 0; round < 50; round += 1) await tick();
    }
    expect(source.taken).toBeLessThan(count / 2);
    reader.response.resume();
    await until(() => reader.events.length === count);
  });

  test("does not read for a minute is cut", async () => {
    const source = new Source();
    const { harness, open } = await started(source.events);
    const reader = await open();
    reader.response.pause();
    source.push(...Array.from({ length: 300 }, (_, n) => event(n + 1, LARGE)));
    for (let round = 0; round < 200; round += 1) await tick();
    await harness.clock.advance(90_000);
    await until(() => harness.gateway.connections === 0 && source.isOver);
    expect(source.taken).toBeLessThan(300);
  });

  test("is gone ends the feature's iteration and gives its place back", async () => {
    const source = new Source();
    const { open } = await started(source.events, { subscriberLimits: { most: 1, mostPerDevice: 1 } });
    const reader = await open();
    const second = await open();
    expect(second.status).toBe(503);
    expect(second.response.headers["content-type"]).toContain("json");
    reader.close();
    await until(() => source.isOver);
    expect((await open()).status).toBe(200);
  });

  test("is revoked is told nothing more", async () => {
    const source = new Source();
    const { harness, open } = await started(source.events);
    const reader = await open();
    await harness.gateway.devices.revoke("dev-operator");
    await until(() => reader.isOver && source.isOver);
    expect(reader.events).toEqual([]);
  });

  test("is quiet is shown that the service is there", async () => {
    const { harness, open } = await started(new Source().events);
    const reader = await open();
    await harness.clock.advance(15_000);
    await until(() => reader.text.endsWith(":\n\n"));
    expect(reader.isOver).toBe(false);
  });
});

test("the end of the service is told, and ends every stream", async () => {
  const source = new Source();
  const { harness, open } = await started(source.events);
  const reader = await open();
  harness.gateway.drain();
  await until(() => reader.text.includes("event: service-draining"));
  expect((await open()).status).toBe(503);
  const closed = harness.gateway.close(60_000);
  await until(() => reader.isOver && source.isOver);
  await closed;
});

test("a stream holds no reload up, and goes on after it", async () => {
  const source = new Source();
  const { harness, open } = await started(source.events);
  const reader = await open();
  await harness.reconfigure({}).idle();
  source.push(event(1));
  await until(() => reader.events.length === 1);
  expect(reader.isOver).toBe(false);
});

test.each([
  { method: "POST" as const, access: undefined },
  { method: "GET" as const, access: "open" as const },
])("$method with access $access can't stream", async ({ method, access }) => {
  const harness = new Harness();
  const streams: Route = {
    ...route(method, "/api/things"),
    ...(access && { access }),
    stream: async (request) => none(request),
  };
  await expect(harness.start({ routes: [streams] })).rejects.toMatchObject({ code: "FEATURE_CONFLICT" });
});
