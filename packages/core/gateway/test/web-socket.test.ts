// The one way in that a browser opens without a preflight and that ends in a turn of the agent: who may open it, what is
// made of what comes in by it, and what a hostile peer can make of it.
import { SvcError, type TurnEvent } from "@svc/contract";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Reply } from "../src/http/reply.ts";
import { clientFrame } from "../src/streams/client-frames.ts";
import { bearer, delta, socketOf, SocketReader } from "./event-stream.ts";
import { Harness, type HarnessOptions } from "./harness.ts";
import { type Answer, call, codeOf, post, raw, statusOf, until, Wire } from "./http.ts";
import { originOf, signIn } from "./sign-in.ts";

async function started(options: HarnessOptions = {}) {
  const harness = new Harness();
  const tokens = {
    operator: harness.device("operator"),
    read: harness.device("read"),
    webhook: harness.device("webhook"),
  };
  await harness.start({ ...options, config: { webhook_rate_limit_per_minute: 0, ...options.config } });
  return {
    harness,
    hub: harness.hub,
    clock: harness.clock,
    tokens,
    open: (token = tokens.operator) => socketOf(harness, token),
  };
}

const codeIn = (opened: SocketReader | Answer): unknown =>
  opened instanceof SocketReader ? "open" : [opened.status, opened.json.code];

describe("who may open one", () => {
  test("a token among the protocols or in the header, a signed-in page; only svc.v1 is echoed", async () => {
    const { harness, tokens } = await started();
    const page = await signIn(harness, tokens.operator);
    const { "x-svc-csrf": csrf, ...cookie } = page.headers;
    const opened = [
      await SocketReader.open(harness, { protocols: ["svc.v1", `bearer.${tokens.operator}`] }),
      await SocketReader.open(harness, { protocols: [`bearer.${tokens.read}`, "svc.v1"] }),
      await SocketReader.open(harness, { headers: bearer(tokens.webhook) }),
      await SocketReader.open(harness, { protocols: [], headers: bearer(tokens.operator) }),
      await SocketReader.open(harness, {
        protocols: ["svc.v1", `csrf.${csrf}`],
        headers: { ...cookie, origin: originOf(harness) },
      }),
    ];
    expect(opened.map((one) => (one instanceof SocketReader ? one.ws.protocol : one.text))).toEqual([
      "svc.v1",
      "svc.v1",
      "svc.v1",
      "",
      "svc.v1",
    ]);
  });

  test("nobody else, and each is told so by HTTP in the shape of every error", async () => {
    const { harness, tokens } = await started();
    const { headers } = await signIn(harness, tokens.operator);
    const { "x-svc-csrf": csrf, ...cookie } = headers;
    const good = ["svc.v1", `bearer.${tokens.operator}`];
    const open = async (options: Parameters<typeof SocketReader.open>[1]): Promise<unknown> =>
      codeIn(await SocketReader.open(harness, options));
    expect([
      await open({}),
      await open({ protocols: ["svc.v1", `bearer.svc_${"0".repeat(64)}`] }),
      await open({ protocols: ["svc.v1", `bearer.${tokens.operator}`, `bearer.${tokens.read}`] }),
      await open({ headers: cookie }),
      await open({ protocols: ["svc.v1", "csrf.wrong"], headers: cookie }),
      await open({ protocols: ["svc.v1", `csrf.${csrf}`] }),
      await open({ protocols: [`bearer.${tokens.operator}`] }),
      await open({ protocols: good, headers: { origin: "https://evil.example" } }),
      await open({ protocols: good, headers: { origin: "null" } }),
      await open({ protocols: good, headers: { host: "evil.example" } }),
    ]).toEqual([
      ...Array.from({ length: 6 }, () => [401, "UNAUTHORIZED"]),
      [400, "BAD_REQUEST"],
      [403, "BAD_ORIGIN"],
      [403, "BAD_ORIGIN"],
      [403, "BAD_HOST"],
    ]);
    expect(harness.hub.subscribers).toBe(0);
  });

  test("guessing is counted as it is for every other path", async () => {
    const { harness } = await started({ config: { trust_forwarded_headers: true } });
    const guess = {
      protocols: ["svc.v1", `bearer.svc_${"0".repeat(64)}`],
      headers: { "x-forwarded-for": "203.0.113.9" },
    };
    for (let count = 0; count < 10; count += 1) await SocketReader.open(harness, guess);
    expect(codeIn(await SocketReader.open(harness, guess))).toEqual([429, "LOCKED_OUT"]);
  });

  test("a token in the query string opens nothing", async () => {
    const { harness, tokens } = await started();
    const text = await raw(harness, upgradeBytes("", `/ws?token=${tokens.operator}&bearer.${tokens.operator}`));
    expect([statusOf(text), codeOf(text)]).toEqual([401, "UNAUTHORIZED"]);
  });

  test("with a webhook secret in the config, a token for messages must go by the way that asks for it", async () => {
    const { harness, tokens } = await started({ webhook: { secret: "s3cret" } });
    expect(codeIn(await SocketReader.open(harness, { headers: bearer(tokens.webhook) }))).toEqual([
      403,
      "FORBIDDEN_SCOPE",
    ]);
    expect(codeIn(await SocketReader.open(harness, { headers: bearer(tokens.operator) }))).toBe("open");
  });
});

const upgradeBytes = (more: string, path = "/ws", method = "GET"): string =>
  `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
  `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${Buffer.alloc(16).toString("base64")}\r\n${more}\r\n`;

describe("a request that is no proper handshake", () => {
  test("without an upgrade, or of another version, is told what is missing", async () => {
    const { harness, tokens } = await started();
    const plain = await call(harness, { path: "/ws", headers: bearer(tokens.read) });
    expect([plain.status, plain.json.code, plain.headers["upgrade"]]).toEqual([426, "UPGRADE_REQUIRED", "websocket"]);
    const old = upgradeBytes(`Authorization: Bearer ${tokens.read}\r\n`).replace("Version: 13", "Version: 7");
    const wire = new Wire(harness);
    wire.write(old);
    expect((await wire.responses(1))[0]).toMatch(/^HTTP\/1\.1 426 .*sec-websocket-version: 13/is);
    wire.socket.destroy();
  });

  test("with a malformed key or malformed protocols is refused in our shape", async () => {
    const { harness, tokens } = await started();
    const authorized = `Authorization: Bearer ${tokens.read}\r\n`;
    const answers = [
      await raw(harness, upgradeBytes(authorized).replace(/Key: .*/, "Key: short")),
      await raw(harness, upgradeBytes(`${authorized}Sec-WebSocket-Protocol: svc.v1, svc.v1\r\n`)),
      await raw(harness, upgradeBytes(`${authorized}Sec-WebSocket-Protocol: svc.v1,,\r\n`)),
      await raw(harness, upgradeBytes(`Sec-WebSocket-Protocol: ${"x".repeat(20_000)}\r\n`)),
    ];
    expect(answers.map((text) => [statusOf(text), codeOf(text)])).toEqual([
      ...Array.from({ length: 3 }, () => [400, "BAD_REQUEST"]),
      [431, "HEADERS_TOO_LARGE"],
    ]);
  });

  test("with a body, of another path or method, or behind another request, is served as if it had not asked", async () => {
    const { harness, tokens } = await started();
    const authorized = `Authorization: Bearer ${tokens.operator}\r\nContent-Type: application/json\r\n`;
    const body = '{"message":"hi"}';
    const framed = `${authorized}Content-Length: ${body.length}\r\n`;
    const ask = async (bytes: string, count = 1): Promise<number[]> => {
      const wire = new Wire(harness);
      wire.write(bytes);
      const statuses = (await wire.responses(count)).map(statusOf);
      wire.socket.destroy();
      return statuses;
    };
    expect(await ask(upgradeBytes(framed, "/webhook", "POST") + body)).toEqual([200]);
    expect(await ask(upgradeBytes(framed) + body)).toEqual([426]);
    expect(await ask(upgradeBytes(authorized, "/health"))).toEqual([200]);
    const turn = `POST /webhook HTTP/1.1\r\nHost: localhost\r\n${framed}\r\n${body}`;
    expect(await ask(turn + upgradeBytes(authorized), 2)).toEqual([200, 426]);
  });
});

describe("events", () => {
  test("are the same as on the stream, as text frames of the same JSON", async () => {
    const { harness, hub, tokens, open } = await started();
    const [operator, read] = [await open(), await open(tokens.read)];
    for (const reader of [operator, read]) reader.say({ type: "resume", last_event_id: "boot-1-0" });
    const { json } = hub.publish(delta("his"));
    hub.publish(delta("mine", "read"));
    await until(() => operator.frames.length === 2 && read.frames.length === 1);
    expect([operator.frames[0], read.texts]).toEqual([JSON.parse(json), ["mine"]]);
    expect(harness.log.lines.filter(({ level }) => level === "error")).toEqual([]);
  });

  test("wait a second for the client to say what it has seen, and none of that second is lost", async () => {
    const { hub, clock, open } = await started();
    hub.publish(delta("before"));
    const [quiet, back] = [await open(), await open()];
    hub.publish(delta("during"));
    back.say({ type: "resume", last_event_id: "boot-1-0" });
    await until(() => back.frames.length === 2);
    expect([back.texts, quiet.texts]).toEqual([["before", "during"], []]);
    await clock.advance(1_000);
    await until(() => quiet.frames.length === 1);
    expect(quiet.texts).toEqual(["during"]);
  });

  test("after a resume with an unknown id begin with events-dropped; a second resume is refused", async () => {
    const { hub, open } = await started();
    const reader = await open();
    reader.say({ type: "resume", last_event_id: "boot-0-7" });
    await until(() => reader.frames.length === 1);
    hub.publish(delta("live"));
    reader.say({ type: "resume", last_event_id: "boot-1-0" });
    expect(await reader.answer()).toMatchObject({ type: "error", code: "BAD_REQUEST" });
    expect(reader.frames[0]).toMatchObject({ type: "events-dropped", payload: { reason: "another-boot" } });
    expect(reader.texts.slice(1, 2)).toEqual(["live"]);
  });

  test("a peer that is gone without a word is cut at the second ping that it does not answer", async () => {
    const { harness, clock, open } = await started();
    const [here, gone] = [await open(), await open()];
    // Its network is unplugged: the kernel takes what is sent, and nobody answers.
    gone.ws.pause();
    await clock.advance(30_000);
    await until(() => here.pings === 1);
    await call(harness, { path: "/health" });
    await clock.advance(30_000);
    await until(() => harness.gateway.connections === 1);
    expect([here.closed, here.pings]).toEqual([undefined, 2]);
  });
});

describe("chat", () => {
  test("runs a turn for the device, in the conversation it names, and answers", async () => {
    const { harness, open } = await started({ webhook: { agent: "helper" } });
    const reader = await open();
    reader.say({ type: "message", content: "hello", session_id: "mine", more: 1 });
    expect(await reader.answer()).toEqual({
      type: "reply",
      response: "echo: hello",
      model: "fake",
      session_id: "mine",
    });
    reader.say({ type: "message", content: "again", session_id: null });
    expect(await reader.answer(2)).toMatchObject({ session_id: "s-new" });
    expect(harness.turns[0]).toMatchObject({
      clientId: "client-operator",
      owner: "client-operator",
      session: "mine",
      agent: "helper",
    });
  });

  test("the pieces of the answer come as events, also to a token for messages, which sees those of its own turns alone", async () => {
    const { hub, tokens, open } = await started({
      run: async ({ text, onEvent }) => {
        const of = { turnId: `t-${text}`, sessionId: "s", owner: "client-webhook" as never };
        const tell = (event: object): void => {
          const whole = { ...event, ...of } as unknown as TurnEvent;
          onEvent?.(whole);
          hub.publish(whole);
        };
        tell({ type: "turn-start", agent: "default", clientId: "client-webhook" });
        tell({ type: "text-delta", text: `piece of ${text}` });
        return {};
      },
    });
    const [one, other] = [await open(tokens.webhook), await open(tokens.webhook)];
    other.say({ type: "resume", last_event_id: "boot-1-0" });
    hub.publish(delta("foreign"));
    one.say({ type: "message", content: "mine" });
    await one.answer();
    other.say({ type: "message", content: "" });
    await other.answer();
    expect(one.texts).toEqual(["turn-start", "piece of mine", "reply"]);
    expect(other.texts).toEqual(["error"]);
  });

  test.each([
    ["BAD_BODY", { type: "message" }],
    ["BAD_BODY", { type: "message", content: " \n" }],
    ["BAD_BODY", { type: "message", content: 7 }],
    ["BAD_SESSION_ID", { type: "message", content: "x", session_id: "a b" }],
    ["BAD_SESSION_ID", { type: "message", content: "x", session_id: 7 }],
    ["BAD_REQUEST", { type: "resume" }],
    ["BAD_REQUEST", { type: "subscribe" }],
    ["BAD_REQUEST", []],
    ["BAD_REQUEST", "null"],
    ["BAD_JSON", "s3cret{"],
    ["BAD_JSON", `${"[".repeat(200)}${"]".repeat(200)}`],
    ["BAD_JSON", ""],
  ])("%s for %j, which is not quoted, and the connection goes on", async (code, frame) => {
    const { harness, open } = await started();
    const reader = await open();
    reader.say(frame);
    expect(await reader.answer()).toEqual({ type: "error", code, error: expect.not.stringContaining("s3cret") });
    reader.say({ type: "message", content: "still here" });
    expect(await reader.answer(2)).toMatchObject({ type: "reply" });
    expect(harness.turns).toHaveLength(1);
  });

  test("a turn that fails is told with its code and conversation; a read token, and one too many, with theirs", async () => {
    const stop: (() => void)[] = [];
    const { harness, tokens, open } = await started({
      run: ({ text }) =>
        text === "fail"
          ? Promise.reject(new SvcError("COST_LIMIT", undefined, { retryAfterMs: 5_000 }))
          : new Promise((resolve) => stop.push(() => resolve({}))),
    });
    const [reader, read] = [await open(), await open(tokens.read)];
    reader.say({ type: "message", content: "fail", session_id: "s" });
    expect(await reader.answer()).toMatchObject({ type: "error", code: "COST_LIMIT", retry_after: 5, session_id: "s" });
    read.say({ type: "message", content: "hi" });
    expect(await read.answer()).toMatchObject({ type: "error", code: "FORBIDDEN_SCOPE" });
    for (let count = 0; count < 5; count += 1) reader.say({ type: "message", content: "wait" });
    expect(await reader.answer(2)).toMatchObject({ type: "error", code: "BUSY" });
    expect(harness.turns).toHaveLength(5);
    for (const end of stop) end();
    await reader.answer(6);
  });

  test("counts for the limit of POST /webhook, and is counted there", async () => {
    const { harness, tokens, open } = await started({ config: { webhook_rate_limit_per_minute: 2 } });
    const reader = await open();
    reader.say({ type: "message", content: "1" });
    await reader.answer();
    expect((await post(harness, tokens.operator)).status).toBe(200);
    expect((await post(harness, tokens.operator)).status).toBe(429);
    reader.say({ type: "message", content: "2" });
    expect(await reader.answer(2)).toMatchObject({ type: "error", code: "RATE_LIMITED", retry_after: 60 });
  });

  test("a turn goes on when its connection is lost, and is stopped when its device is revoked", async () => {
    const stopped: unknown[] = [];
    const { harness, open } = await started({
      run: ({ signal }) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => (stopped.push(signal.reason), reject(signal.reason))),
        ),
    });
    const reader = await open();
    reader.say({ type: "message", content: "hi" });
    await until(() => harness.turns.length === 1);
    reader.ws.terminate();
    await until(() => harness.gateway.connections === 0);
    expect(stopped).toEqual([]);
    await harness.gateway.devices.revoke("dev-operator");
    await until(() => stopped.length === 1);
  });

  test("no turn begins while the service stops", async () => {
    const { harness, open } = await started();
    const reader = await open();
    harness.gateway.drain();
    reader.say({ type: "message", content: "hi" });
    expect(await reader.answer()).toMatchObject({ type: "error", code: "DRAINING" });
    expect(harness.turns).toEqual([]);
  });
});

describe("a hostile peer", () => {
  /** A frame as RFC 6455 has it, masked with zeros. */
  const frame = (first: number, payload: Buffer): Buffer => {
    const { length } = payload;
    const extended = length < 126 ? Buffer.of(0x80 | length) : Buffer.of(0x80 | 126, length >> 8, length & 255);
    return Buffer.concat([Buffer.of(first), extended, Buffer.alloc(4), payload]);
  };
  async function opened(harness: Harness, token: string) {
    const wire = new Wire(harness);
    wire.write(upgradeBytes(`Authorization: Bearer ${token}\r\n`));
    await until(() => wire.text.includes("\r\n\r\n"));
    return wire;
  }

  test.each([
    ["an unmasked frame", Buffer.of(0x81, 0x01, 0x78), 1002],
    ["a reserved bit", frame(0xc1, Buffer.from("x")), 1002],
    ["an unknown opcode", frame(0x83, Buffer.from("x")), 1002],
    ["text that is no UTF-8", frame(0x81, Buffer.of(0xff, 0xfe)), 1007],
    ["a ping that is too long", frame(0x89, Buffer.alloc(126)), 1002],
    ["a length of four gigabytes", Buffer.of(0x81, 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0), 1009],
    [
      "more fragments than anybody needs",
      Buffer.concat(Array.from({ length: 2_000 }, (_, index) => frame(index === 0 ? 0x01 : 0x00, Buffer.from("x")))),
      1008,
    ],
  ])("that sends %s is told by code and cut, and nobody else notices", async (_name, bytes, code) => {
    const { harness, hub, tokens, open } = await started();
    const [other, wire] = [await open(), await opened(harness, tokens.operator)];
    other.say({ type: "resume", last_event_id: "boot-1-0" });
    wire.socket.write(bytes);
    const head = wire.text.indexOf("\r\n\r\n") + 4;
    await until(() => wire.text.length >= head + 4);
    expect(Buffer.from(wire.text.slice(head), "latin1").readUInt16BE(2)).toBe(code);
    await harness.clock.advance(1_000);
    await wire.closed;
    hub.publish(delta("alive"));
    await until(() => other.texts.length === 1);
  });

  test("that sends more than a mebibyte is told so and cut", async () => {
    const { harness, open } = await started();
    const reader = await open();
    reader.say({ type: "message", content: "x".repeat(1_048_577) });
    await until(() => reader.closed !== undefined);
    expect([reader.closed, harness.turns]).toEqual([1009, []]);
  });

  test("that asks for errors and does not read them is cut, before they are many megabytes", async () => {
    const { harness, tokens } = await started();
    const wire = await opened(harness, tokens.operator);
    wire.socket.pause();
    const garbage = Buffer.concat(Array.from({ length: 1_000 }, () => frame(0x81, Buffer.from("{"))));
    let isCut = false;
    void wire.closed.then(() => (isCut = true));
    const flood = (): void => {
      if (!isCut && wire.socket.writable) wire.socket.write(garbage, () => setImmediate(flood));
    };
    flood();
    await until(() => harness.gateway.connections === 0);
    expect(harness.log.lines.filter(({ level }) => level === "error")).toEqual([]);
    wire.socket.destroy();
  });

  test("any frame is understood or refused, whatever is in it", () => {
    const any = fc.oneof(
      fc.uint8Array().map((bytes) => Buffer.from(bytes)),
      fc.json().map((text) => Buffer.from(text)),
      fc
        .record({ type: fc.constantFrom("message", "resume", "x"), content: fc.anything(), session_id: fc.anything() })
        .map((value) => Buffer.from(JSON.stringify(value) ?? "")),
    );
    fc.assert(
      fc.property(any, fc.boolean(), (data, isBinary) => {
        const told = clientFrame(data, isBinary);
        const isUnderstood = !(told instanceof Reply) && (told.type === "resume" || told.content.trim() !== "");
        expect(isUnderstood || (told instanceof Reply && told.status === 400)).toBe(true);
      }),
    );
  });
});
