// Deliveries as bytes: half, slow, huge, lying and hostile ones, all of them at once. None of them is kept that is not whole,
// none is lost that was, and none of them is in the way of the next.
import { describe, expect, test } from "vitest";
import { channelWith, delivery, FEATURE, PATH, sign } from "./channel.ts";
import { Harness, type HarnessOptions } from "./harness.ts";
import { call, codeOf, raw, splitResponses, statusOf, tick, until, Wire } from "./http.ts";

const CRLF = "\r\n";
const MESSAGE = '{"text":"hi"}';
const CHALLENGE = `${PATH}?token=t0ken&challenge=c`;

const started = (options: HarnessOptions = {}) => new Harness().start({ ingress: [channelWith()], ...options });

/** The head of a delivery whose body will be this one. */
const head = (body: string, ...lines: string[]): string =>
  [`POST ${PATH} HTTP/1.1`, "Host: x.example", `X-Signature: ${sign(body)}`, ...lines].join(CRLF) + CRLF + CRLF;
const whole = (body = MESSAGE, ...lines: string[]): string =>
  head(body, `Content-Length: ${body.length}`, ...lines) + body;
const chunk = (text: string): string => `${text.length.toString(16)}${CRLF}${text}${CRLF}`;

describe("bodies on the wire", () => {
  test("byte by byte, in chunks without a length", async () => {
    const gateway = await started();
    const wire = new Wire(gateway);
    wire.write(head(MESSAGE, "Transfer-Encoding: chunked", "Connection: close"));
    for (const byte of MESSAGE) {
      wire.write(chunk(byte));
      await tick();
    }
    expect(gateway.arrivals).toEqual([]);
    wire.write(`0${CRLF}${CRLF}`);
    expect(statusOf(await wire.closed)).toBe(200);
    expect(gateway.arrivals).toMatchObject([{ messages: [{ body: { text: "hi" } }] }]);
  });

  test("half of one, then gone: nothing is kept, and nothing is left", async () => {
    const gateway = await started();
    for (const end of ["destroy", "resetAndDestroy"] as const) {
      const wire = new Wire(gateway);
      wire.write(head(MESSAGE, `Content-Length: ${MESSAGE.length}`) + MESSAGE.slice(0, 5));
      await until(() => gateway.gateway.connections === 1);
      wire.socket[end]();
      await until(() => gateway.gateway.connections === 0);
    }
    expect([gateway.arrivals, gateway.log.lines.length]).toEqual([[], 1]);
    expect((await call(gateway, delivery())).status).toBe(200);
  });

  test("a whole one whose sender hangs up before it is answered is kept", async () => {
    const gateway = await started();
    const wire = new Wire(gateway);
    let keep = () => {};
    gateway.accept = () =>
      new Promise((resolve) => (keep = () => resolve({ state: "kept", messages: [{ n: 1, turnId: "t" }] })));
    const before = keep;
    wire.write(whole());
    await until(() => keep !== before);
    wire.socket.destroy();
    await until(() => gateway.gateway.connections === 0);
    keep();
    await until(() => gateway.arrivals.length === 1);
    expect(gateway.log.lines.filter(({ level }) => level !== "info")).toEqual([]);
  });

  test("exactly the limit is taken, one byte more is 413: declared, and counted", async () => {
    const gateway = await started({ config: { max_body_bytes: 1024 } });
    const body = (bytes: number) => `{"text":"${"x".repeat(bytes - 11)}"}`;
    const chunked = (text: string) =>
      `${head(text, "Transfer-Encoding: chunked", "Connection: close")}${chunk(text)}0${CRLF}${CRLF}`;
    for (const bytes of [whole(body(1024), "Connection: close"), chunked(body(1024))]) {
      expect(statusOf(await raw(gateway, bytes))).toBe(200);
    }
    for (const bytes of [whole(body(1025), "Connection: close"), chunked(body(1025))]) {
      const response = await raw(gateway, bytes);
      expect([statusOf(response), codeOf(response)]).toEqual([413, "TOO_LARGE"]);
    }
    expect(gateway.arrivals).toHaveLength(2);
  });

  test("413 comes before anything is proven or refused for want of a signature", async () => {
    const config = { max_body_bytes: 1024, require_signatures: true };
    const gateway = await started({ config, ingress: [channelWith({ signed: false })] });
    const answer = await call(gateway, delivery("x".repeat(1025), { headers: { "x-signature": "forged" } }));
    expect(answer.json.code).toBe("TOO_LARGE");
    expect((await call(gateway, delivery("x".repeat(1024)))).json.code).toBe("BAD_SIGNATURE");
  });

  test("one that lies about a huge length is refused before a byte of it is read", async () => {
    const gateway = await started();
    const wire = new Wire(gateway);
    wire.write(head(MESSAGE, "Content-Length: 99999999999"));
    expect(statusOf((await wire.responses(1))[0]!)).toBe(413);
    await gateway.clock.advance(2_000);
    await wire.closed;
  });

  test("Expect: 100-continue: whoever can't be helped is not asked for the body, everybody else is", async () => {
    const gateway = await started();
    const asks = [`Content-Length: ${MESSAGE.length}`, "Expect: 100-continue"];
    const wire = new Wire(gateway);
    wire.write(head(MESSAGE, ...asks, "Connection: close"));
    expect(statusOf((await wire.responses(1))[0]!)).toBe(100);
    wire.write(MESSAGE);
    expect(splitResponses(await wire.closed).map(statusOf)).toEqual([100, 200]);
    gateway.failed.add(FEATURE);
    const refused = new Wire(gateway);
    refused.write(head(MESSAGE, ...asks));
    expect(statusOf((await refused.responses(1))[0]!)).toBe(503);
    refused.socket.destroy();
  });

  test("the unread body of a refused one is not the next request", async () => {
    const gateway = await started();
    const smuggled = whole();
    const refused = `DELETE ${PATH} HTTP/1.1${CRLF}Host: x${CRLF}Content-Length: ${smuggled.length}${CRLF}${CRLF}${smuggled}`;
    const responses = splitResponses(await raw(gateway, refused + whole(MESSAGE, "Connection: close")));
    expect([responses.map(statusOf), gateway.arrivals.length]).toEqual([[405, 200], 1]);
  });

  test("pipelined, they are answered in their order, refused ones among them", async () => {
    const gateway = await started();
    const forged = whole().replace(/X-Signature: ../, "X-Signature: zz");
    const last = whole(MESSAGE, "Connection: close");
    const responses = splitResponses(await raw(gateway, whole() + forged + whole("{") + last));
    expect([responses.map(statusOf), gateway.arrivals.length]).toEqual([[200, 401, 400, 200], 2]);
  });

  test("two lengths, or a length and chunks, are no delivery", async () => {
    const gateway = await started();
    for (const line of ["Content-Length: 1", "Transfer-Encoding: chunked"]) {
      const response = await raw(gateway, whole(MESSAGE, line));
      expect([statusOf(response), codeOf(response)]).toEqual([400, "BAD_REQUEST"]);
    }
    expect(gateway.arrivals).toEqual([]);
  });
});

describe("methods", () => {
  test("HEAD is GET without the body, OPTIONS tells them, and no other site is let in", async () => {
    const gateway = await started();
    const [get, headed] = [
      await call(gateway, { path: CHALLENGE }),
      await call(gateway, { method: "HEAD", path: CHALLENGE }),
    ];
    expect([get.text, headed.status, headed.text]).toEqual(["c", 200, ""]);
    expect(headed.headers["content-length"]).toBe(get.headers["content-length"]);
    expect((await call(gateway, { method: "HEAD", path: PATH })).status).toBe(403);
    const options = await call(gateway, { method: "OPTIONS", path: PATH, headers: { origin: "https://evil.example" } });
    expect([options.status, options.headers["allow"], options.text]).toEqual([204, "GET, HEAD, POST", ""]);
    expect(options.headers["access-control-allow-origin"]).toBeUndefined();
  });

  test.each(["PUT", "DELETE", "PATCH"])("%s is 405 with Allow, before anything else is looked at", async (method) => {
    const gateway = await started();
    gateway.failed.add(FEATURE);
    gateway.gateway.drain();
    const answer = await call(gateway, delivery("x".repeat(9000), { method }));
    expect([answer.status, answer.json.code, answer.headers["allow"]]).toEqual([
      405,
      "METHOD_NOT_ALLOWED",
      "GET, HEAD, POST",
    ]);
  });

  test("those of the channel and no others", async () => {
    const gateway = await started({ ingress: [channelWith({ methods: ["PUT"] })] });
    expect((await call(gateway, delivery(undefined, { method: "PUT" }))).status).toBe(200);
    for (const method of ["GET", "HEAD", "POST"]) {
      expect((await call(gateway, delivery(undefined, { method }))).headers["allow"]).toBe("PUT");
    }
  });
});

describe("paths", () => {
  test.each([
    `${PATH}/`,
    `/${PATH}`,
    `${PATH}%2f`,
    `${PATH}%00`,
    `${PATH};a=b`,
    `${PATH}//`,
    `/x/..${PATH}`,
    `/%2e%2e${PATH}`,
    `/.${PATH}`,
    PATH.toUpperCase(),
    PATH.replace("p", "%70"),
    `\\${PATH}`,
  ])("%s is another one: nobody's, and behind the Host rule", async (path) => {
    const ingressPaths = new Map([[PATH, { feature: FEATURE, title: "Provider A" }]]);
    for (const options of [{}, { ingress: [], ingressPaths }]) {
      const gateway = await started(options);
      const ours = await call(gateway, delivery(undefined, { path, headers: { host: "localhost" } }));
      expect([400, 404]).toContain(ours.status);
      expect(ours.json.code).toMatch(/^(?:NOT_FOUND|BAD_REQUEST)$/);
      expect((await call(gateway, delivery(undefined, { path }))).status).toBeGreaterThanOrEqual(400);
      expect(gateway.arrivals).toEqual([]);
    }
  });

  test("in the absolute form it is the same, for a Host of ours alone", async () => {
    const gateway = await started();
    const to = (host: string) => whole(MESSAGE, "Connection: close").replace(PATH, `http://${host}${PATH}`);
    expect(statusOf(await raw(gateway, to("localhost")))).toBe(200);
    expect(statusOf(await raw(gateway, to("evil.example")))).toBe(403);
    expect(gateway.arrivals).toHaveLength(1);
  });
});

describe("while the service stops", () => {
  test("a delivery is 503, and so is one whose body was complete only after that had begun", async () => {
    const gateway = await started();
    const wire = new Wire(gateway);
    wire.write(head(MESSAGE, `Content-Length: ${MESSAGE.length}`) + MESSAGE.slice(0, 5));
    await until(() => gateway.gateway.connections === 1);
    await call(gateway, { path: CHALLENGE });
    const closed = gateway.gateway.close(30_000);
    wire.write(MESSAGE.slice(5));
    const [late] = await wire.responses(1);
    expect([statusOf(late!), codeOf(late!)]).toEqual([503, "DRAINING"]);
    await closed;
    expect(gateway.arrivals).toEqual([]);
  });

  test("a handshake is still answered", async () => {
    const gateway = await started();
    gateway.gateway.drain();
    expect((await call(gateway, { path: CHALLENGE })).text).toBe("c");
  });

  test("nothing is taken by a handshake either", async () => {
    const parse = () => ({ inbound: [{ conversation: { channel: "c", id: "i" }, sender: "s", text: "hi" }] });
    const gateway = await started({ ingress: [channelWith({ parse })] });
    expect((await call(gateway, { path: CHALLENGE })).status).toBe(200);
    gateway.gateway.drain();
    expect((await call(gateway, { path: CHALLENGE })).json.code).toBe("DRAINING");
    expect((await call(gateway, delivery())).json.code).toBe("DRAINING");
    expect(gateway.arrivals).toHaveLength(1);
  });

  test("one that is being kept is answered for what became of it", async () => {
    const gateway = await started();
    let keep: (() => void) | undefined;
    gateway.accept = () => new Promise((resolve) => (keep = () => resolve({ state: "kept", messages: [] })));
    const wire = new Wire(gateway);
    wire.write(whole());
    await until(() => keep !== undefined);
    const closed = gateway.gateway.close(30_000);
    keep!();
    expect(statusOf((await wire.responses(1))[0]!)).toBe(200);
    await closed;
  });
});

describe("many at once", () => {
  test("1 000 deliveries on 100 connections: each is kept once and answered once", async () => {
    const gateway = await started();
    gateway.accept = async ({ messages }) => (
      await tick(),
      { state: "kept", messages: messages.map(() => "duplicate") }
    );
    const wires = Array.from({ length: 100 }, () => new Wire(gateway));
    const bodies = Array.from({ length: 1000 }, (_, index) => `{"id":"m${index}","text":"t${index}"}`);
    for (const [index, body] of bodies.entries()) wires[index % wires.length]!.write(whole(body));
    const statuses = (await Promise.all(wires.map((wire) => wire.responses(10)))).flat().map(statusOf);
    expect([statuses.length, new Set(statuses)]).toEqual([1000, new Set([200])]);
    const texts = gateway.arrivals.flatMap(({ messages }) => messages.map(({ body }) => (body as any).text));
    expect(new Set(texts).size).toBe(1000);
    expect(texts).toHaveLength(1000);
    for (const { socket } of wires) socket.destroy();
  });

  test("a flood of forged ones is two lines in the log, and the genuine ones among them are kept", async () => {
    const gateway = await started();
    const forged = whole(MESSAGE, "X-Forged: 1").replace(/X-Signature: ../, "X-Signature: zz");
    const wires = Array.from({ length: 20 }, () => new Wire(gateway));
    for (const wire of wires) wire.write(forged.repeat(99) + whole());
    const statuses = (await Promise.all(wires.map((wire) => wire.responses(100)))).flat().map(statusOf);
    expect(statuses.filter((status) => status === 401)).toHaveLength(1980);
    expect(gateway.arrivals).toHaveLength(20);
    expect(gateway.log.lines).toHaveLength(2);
    for (const { socket } of wires) socket.destroy();
  });
});
