// A stream that loses an event, shows it to the wrong one, or goes on for somebody who was shut out: nobody would notice
// before a page shows what is not so.
import { createEventHub } from "@svc/runtime";
import { describe, expect, test } from "vitest";
import { bearer, delta, EventReader, socketOf, SocketReader } from "./event-stream.ts";
import { Harness, type HarnessOptions, route } from "./harness.ts";
import { call, until, Wire } from "./http.ts";
import { signIn } from "./sign-in.ts";

async function started(options: HarnessOptions = {}) {
  const harness = new Harness();
  const tokens = {
    operator: harness.device("operator"),
    read: harness.device("read"),
    webhook: harness.device("webhook"),
    lost: harness.device("operator", "lost"),
  };
  await harness.start(options);
  const open = (token = tokens.operator, headers = {}): Promise<EventReader> =>
    EventReader.open(harness, { ...bearer(token), ...headers });
  return { harness, hub: harness.hub, clock: harness.clock, tokens, open };
}

describe("GET /api/events", () => {
  test("tells each event with its id, type and JSON, in order, from the moment it is open", async () => {
    const { hub, open } = await started();
    hub.publish(delta("before"));
    const reader = await open();
    expect(reader.response.headers).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    });
    const { json } = hub.publish(delta('one\ntwo \u2028 {"a":1}'));
    hub.publish(delta("three"));
    await until(() => reader.events.length === 2);
    expect(reader.text).toContain(`id: boot-1-2\nevent: text-delta\ndata: ${json}\n\n`);
    expect(reader.events.map(({ id }) => id)).toEqual(["boot-1-2", "boot-1-3"]);
  });

  test("says where the reader stands before there is any event, so that none is lost when it comes back", async () => {
    const { hub, open } = await started();
    hub.publish(delta("before"));
    const first = await open();
    await until(() => first.text !== "");
    expect([first.text.startsWith("retry: "), first.position]).toEqual([true, "boot-1-1"]);
    first.close();
    hub.publish(delta("meanwhile"));
    const second = await open(undefined, { "last-event-id": first.position });
    await until(() => second.texts.length === 1);
    expect(second.texts).toEqual(["meanwhile"]);
    // Lost before what it had missed was told, it would come back with an id that it was given too early.
    expect(second.text.indexOf("id: ")).toBeGreaterThan(second.text.indexOf("\n\n"));
    expect([...second.text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id)).toEqual(["boot-1-2"]);
  });

  test.each([
    ["another-boot", "boot-0-1"],
    ["malformed", "boot-1-99"],
    ["malformed", "x"],
    ["too-old", "boot-1-1"],
  ])("answers a Last-Event-ID that is %s first with events-dropped, then goes on live", async (reason, id) => {
    const harness = new Harness();
    const token = harness.device();
    harness.hub = createEventHub({ clock: harness.clock, boot: "boot-1", ring: { maxEvents: 1, maxBytes: 1e6 } });
    await harness.start();
    for (const text of ["1", "2", "3"]) harness.hub.publish(delta(text));
    const reader = await EventReader.open(harness, { ...bearer(token), "last-event-id": id });
    harness.hub.publish(delta("4"));
    await until(() => reader.events.length === 2);
    expect(reader.events[0]).toMatchObject({
      id: "boot-1-3",
      type: "events-dropped",
      payload: { reason, missed: null },
    });
    expect(reader.texts[1]).toBe("4");
  });

  test("shows an operator everything, and who may only read what is its own or nobody's alone", async () => {
    const { hub, tokens, open } = await started();
    const [operator, read] = [await open(), await open(tokens.read)];
    hub.publish(delta("mine", "read"));
    hub.publish(delta("his", "operator"));
    hub.publish({ type: "channel_event", event: "e", title: "t", message: "m", channels: [] });
    hub.publish({
      type: "human_approval_resolved",
      runId: "r",
      stepId: "s",
      approved: true,
      outcome: "approved",
      feedback: undefined,
      by: "A",
    });
    hub.publish({
      type: "message-received",
      messageId: "in-1",
      conversation: { channel: "c", id: "1" },
      sender: "+1",
      turnId: "t",
    });
    hub.publish({ type: "sop-run-step", runId: "r", sop: "s", step: 1, status: "running" });
    hub.publish({ type: "channel-health", channel: "c", feature: "f", state: "failed", reason: undefined });
    await until(() => operator.events.length === 7 && read.events.length === 3);
    expect(read.texts).toEqual(["mine", "sop-run-step", "channel-health"]);
  });

  test("is for nobody else: no token 401, a token for messages 403, another site's page 403, a cookie alone 401", async () => {
    const { harness, tokens } = await started();
    const statusOf = async (headers: Record<string, string>): Promise<unknown> =>
      (await call(harness, { path: "/api/events", headers })).json.code;
    const page = (await signIn(harness, tokens.operator)).headers;
    const { cookie = "", "x-svc-csrf": csrf } = page;
    expect([
      await statusOf({}),
      await statusOf(bearer(tokens.webhook)),
      await statusOf({ ...bearer(tokens.operator), origin: "https://evil.example" }),
      await statusOf({ cookie }),
      await statusOf({ cookie, "x-svc-csrf": `${csrf}x` }),
    ]).toEqual(["UNAUTHORIZED", "FORBIDDEN_SCOPE", "BAD_ORIGIN", "UNAUTHORIZED", "UNAUTHORIZED"]);
    expect((await EventReader.open(harness, page)).status).toBe(200);
  });

  test("HEAD has the headers alone, and other methods are told which there are", async () => {
    const { harness, tokens } = await started();
    const head = await EventReader.open(harness, bearer(tokens.read), "HEAD");
    await until(() => head.isOver);
    expect([head.status, head.text, head.response.headers["content-type"]]).toEqual([
      200,
      "",
      "text/event-stream; charset=utf-8",
    ]);
    const refused = await call(harness, { method: "POST", path: "/api/events", headers: bearer(tokens.operator) });
    expect([refused.status, refused.headers["allow"]]).toEqual([405, "GET, HEAD"]);
    expect(harness.hub.subscribers).toBe(0);
  });

  test("has a heartbeat every fifteen seconds, of one timer for all, which moves a reader on that sees nothing", async () => {
    const { hub, clock, tokens, open } = await started();
    const before = clock.waiting;
    const readers = [await open(tokens.read), await open(tokens.read), await open()];
    expect(clock.waiting - before).toBe(1);
    hub.publish(delta("his", "other"));
    await clock.advance(15_000);
    await until(() => readers.every(({ text }) => /^:$/m.test(text)));
    expect(readers[0]!.position).toBe("boot-1-1");
    for (const reader of readers) reader.close();
    await until(() => hub.subscribers === 0);
    expect(clock.waiting).toBe(before);
  });

  test("has room for so many, and so many of one device", async () => {
    const { harness, tokens, open } = await started({ subscriberLimits: { most: 3, mostPerDevice: 2 } });
    const [one, two] = [await open(), await open()];
    const full = await call(harness, { path: "/api/events", headers: bearer(tokens.operator) });
    expect([full.status, full.json.code]).toEqual([503, "BUSY"]);
    const third = await open(tokens.read);
    const last = await SocketReader.open(harness, { headers: bearer(tokens.lost) });
    expect([one.status, two.status, third.status, last]).toMatchObject([200, 200, 200, { status: 503 }]);
    two.close();
    await until(() => harness.hub.subscribers === 2);
    expect((await open()).status).toBe(200);
  });

  test("behind a request that is being answered it waits, keeps little in memory, and has all of it then", async () => {
    let finish: (() => void) | undefined;
    const slow = route(
      "GET",
      "/api/slow",
      () => new Promise((done) => (finish = () => done({ status: 200, body: {} }))),
    );
    const { harness, hub, tokens } = await started({ routes: [slow] });
    const head = `Host: localhost\r\nAuthorization: Bearer ${tokens.operator}\r\n\r\n`;
    const wire = new Wire(harness);
    wire.write(`GET /api/slow HTTP/1.1\r\n${head}GET /api/events HTTP/1.1\r\n${head}`);
    await until(() => hub.subscribers === 1 && finish !== undefined);
    for (let count = 1; count <= 400; count += 1) hub.publish(delta(`<${count}>${"x".repeat(1_000)}`));
    expect(hub.subscribers).toBe(0);
    finish?.();
    await until(() => wire.text.includes("<400>"));
    const seen = [...wire.text.matchAll(/<(\d+)>/g)].map(([, number]) => Number(number));
    expect(seen).toEqual(Array.from({ length: 400 }, (_, index) => index + 1));
    wire.socket.destroy();
  });
});

describe("who is shut out", () => {
  test("a revoked device's streams end at once, and nobody else's", async () => {
    const { harness, hub, tokens, open } = await started();
    const [lost, kept] = [await open(tokens.lost), await open()];
    const socket = await socketOf(harness, tokens.lost);
    await harness.gateway.devices.revoke("dev-lost");
    hub.publish(delta("secret"));
    await until(() => lost.isOver && socket.closed !== undefined && kept.events.length === 1);
    expect([lost.texts, socket.texts, socket.closed]).toEqual([[], [], 1008]);
  });

  test("a revoked device that never says goodbye is cut a second later, and is not listened to meanwhile", async () => {
    const { harness, tokens } = await started();
    const socket = await socketOf(harness, tokens.lost);
    socket.ws.pause();
    socket.say({ type: "message", content: "still here" });
    await harness.gateway.devices.revoke("dev-lost");
    await until(() => harness.gateway.connections === 1);
    await harness.clock.advance(1_000);
    await until(() => harness.gateway.connections === 0);
    expect(harness.turns).toEqual([]);
  });

  test("a page's streams end when it is signed out; those of its device stay", async () => {
    const { harness, tokens, open } = await started();
    const { headers } = await signIn(harness, tokens.operator);
    const page = await EventReader.open(harness, headers);
    const device = await open();
    expect(page.status).toBe(200);
    await call(harness, { method: "DELETE", path: "/api/session", headers });
    await until(() => page.isOver);
    expect(device.isOver).toBe(false);
  });
});

describe("when the service stops", () => {
  test("everybody is told so, sees the running turns to their end, and is sent home; nobody new is let in", async () => {
    let finish = (): void => {};
    const { harness, hub, tokens, open } = await started({
      run: () => new Promise((resolve) => (finish = () => (hub.publish(delta("the end")), resolve({})))),
    });
    const [reader, socket] = [await open(), await socketOf(harness, tokens.operator)];
    socket.say({ type: "message", content: "hi" });
    await until(() => harness.turns.length === 1);
    const closed = harness.gateway.close(60_000);
    const late = await call(harness, { path: "/api/events", headers: bearer(tokens.operator) });
    expect([late.status, late.json.code]).toEqual([503, "DRAINING"]);
    finish();
    await until(() => reader.isOver && socket.closed !== undefined);
    await closed;
    expect(reader.texts).toEqual(["service-draining", "the end"]);
    expect(socket.frames.map(({ type }) => type)).toEqual(["service-draining", "text-delta", "reply"]);
    expect(socket.closed).toBe(1001);
  });

  test("who does not read, or does not say goodbye, holds it up for a second", async () => {
    const { harness, hub, clock, tokens, open } = await started();
    const reader = await open();
    const socket = await socketOf(harness, tokens.operator);
    reader.response.pause();
    socket.ws.pause();
    for (let count = 0; count < 20 && hub.subscribers > 0; count += 1) hub.publish(delta("x".repeat(1_000_000)));
    const closed = harness.gateway.close(60_000);
    await clock.advance(1_000);
    await closed;
    expect(harness.gateway.connections).toBe(0);
  });

  test("asked to hurry it cuts them at once", async () => {
    const { harness, tokens, open } = await started();
    const reader = await open();
    const socket = await socketOf(harness, tokens.operator);
    socket.ws.pause();
    const closed = harness.gateway.close(60_000);
    void harness.gateway.close(0);
    await closed;
    await until(() => reader.isOver);
    expect(harness.gateway.connections).toBe(0);
  });
});
