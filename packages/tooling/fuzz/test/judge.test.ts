// A judge that finds nothing is worth something only if it finds what is wrong: servers that are broken on purpose.
import { createServer, type AddressInfo, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import type { Attack } from "../src/attack.ts";
import { judge } from "../src/judge/judge.ts";
import { exchange } from "../src/wire/exchange.ts";

const PATIENCE = { promptMs: 20_000, slowMs: { headers: 20_000, body: 20_000 } };
/** Where no answer comes: a slow machine sees none either. */
const IN_VAIN = { promptMs: 200, slowMs: { headers: 200, body: 200 } };
const SECRET = "planted-0123456789";
const OURS = "content-type: application/json\r\nx-content-type-options: nosniff\r\ncache-control: no-store\r\n";

const attackWith = (more: Partial<Attack> = {}): Attack => ({
  kind: "test",
  steps: [{ write: Buffer.from("GET /markabc HTTP/1.1\r\nHost: localhost\r\n\r\n") }],
  ending: "answer",
  requests: 1,
  marks: ["markabc"],
  ...more,
});

function answer(status: number, body: string, headers = OURS): string {
  return `HTTP/1.1 ${status} Some Words\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

const error = (code: string, message = "It is wrong.", more: object = {}): string =>
  JSON.stringify({ error: message, code, ...more });

/** What is said of a server that does this with every connection's first bytes. */
async function found(attack: Attack, serve: (socket: Socket) => void, patience = PATIENCE): Promise<string[]> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on("error", () => {});
    socket.once("data", () => serve(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const place = { host: "127.0.0.1", port: (server.address() as AddressInfo).port };
  const exchanged = await exchange(attack, place, patience);
  for (const socket of open) socket.destroy();
  server.close();
  return judge(attack, exchanged, { secrets: [SECRET] });
}

const sends = (text: string) => (socket: Socket) => void socket.write(text);
const sendsAndEnds = (text: string) => (socket: Socket) => void socket.end(text, "latin1");

test("a server that does it right is left alone", async () => {
  expect(await found(attackWith(), sends(answer(404, error("NOT_FOUND"))))).toEqual([]);
  expect(await found(attackWith(), sends(answer(200, "{}")))).toEqual([]);
  const limited = answer(429, error("RATE_LIMITED", "Wait.", { retry_after: 5 }), `${OURS}retry-after: 5\r\n`);
  expect(await found(attackWith(), sends(limited))).toEqual([]);
  const busy = answer(503, error("BUSY", "Try again.", { retry_after: 1 }), `${OURS}retry-after: 1\r\n`);
  expect(await found(attackWith(), sends(busy))).toEqual([]);
  expect(await found(attackWith(), sends(answer(503, error("DRAINING"))))).toEqual([]);
});

test("an answer is not late because this process was stopped meanwhile", async () => {
  const stopped = new Int32Array(new SharedArrayBuffer(4));
  const stopsAndSends = (socket: Socket): void => {
    Atomics.wait(stopped, 0, 0, 1_000);
    setTimeout(() => socket.write(answer(200, "{}")), 0);
  };
  expect(await found(attackWith(), stopsAndSends, { ...PATIENCE, promptMs: 500 })).toEqual([]);
});

describe("found is", () => {
  test.each<[string, string, string, Partial<Attack>?]>([
    ["a 500", answer(500, error("INTERNAL")), "500 INTERNAL"],
    ["a failed turn", answer(500, error("TURN_FAILED")), "500 TURN_FAILED"],
    ["a code with a foreign status", answer(400, error("NOT_FOUND")), "NOT_FOUND with status 400 instead of 404"],
    ["a body that is no JSON", answer(400, "Bad Request"), "400 that is not in our error shape"],
    ["an unknown code", answer(400, error("OOPS")), "400 that is not in our error shape"],
    [
      "a stack in another field",
      answer(400, error("BAD_REQUEST", "x", { stack: "at" })),
      "400 with a field that no error has",
    ],
    [
      "a wait that is another one in the header",
      answer(503, error("BUSY", "x", { retry_after: 1 }), `${OURS}retry-after: 2\r\n`),
      "retry_after that is not Retry-After",
    ],
    [
      "a wait that no header says",
      answer(503, error("BUSY", "x", { retry_after: 1 })),
      "retry_after that is not Retry-After",
    ],
    [
      "a wait that is a text",
      answer(503, error("BUSY", "x", { retry_after: "1" }), `${OURS}retry-after: 1\r\n`),
      "retry_after that is not Retry-After",
    ],
    [
      "a 429 that does not say in its body when",
      answer(429, error("RATE_LIMITED"), `${OURS}retry-after: 1\r\n`),
      "429 without retry_after",
    ],
    [
      "an empty 400, as Node sends it",
      "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n",
      "sends what is no response: not exactly one of Content-Length and Transfer-Encoding",
    ],
    [
      "an error that quotes the request",
      answer(404, error("NOT_FOUND", "/markabc is not here")),
      "an error quotes what it was sent",
    ],
    ["a secret", answer(200, JSON.stringify({ key: SECRET })), "tells a secret"],
    [
      "a missing nosniff",
      answer(200, "{}", "cache-control: no-store\r\ncontent-type: text/plain\r\n"),
      "200 without X-Content-Type-Options",
    ],
    [
      "a wildcard for other sites",
      answer(200, "{}", `${OURS}access-control-allow-origin: *\r\n`),
      "200 with access-control-allow-origin",
    ],
    ["a 401 that does not say how", answer(401, error("UNAUTHORIZED")), "401 without WWW-Authenticate"],
    ["a 405 that does not say what", answer(405, error("METHOD_NOT_ALLOWED")), "405 without Allow"],
    ["a 429 that does not say when", answer(429, error("RATE_LIMITED")), "429 without Retry-After"],
    ["two answers to one request", answer(200, "{}").repeat(2), "answers 2 times to 1 requests"],
    ["what is no HTTP", "SSH-2.0-hello\n", "sends what is no response: does not begin like a response"],
    [
      "a header injected into an answer",
      answer(200, "{}", `${OURS}x-a: b\rx-c: d\r\n`),
      "sends what is no response: a header line is malformed",
    ],
    ["another path served", answer(200, "{}"), "serves another path than it was asked for", { elsewhere: true }],
  ])("%s", async (_what, text, problem, more) => {
    expect(await found(attackWith(more), sends(text))).toContain(problem);
  });

  test("silence", async () => {
    expect(await found(attackWith(), () => {}, IN_VAIN)).toContain("hangs: no end within the bound");
    expect(await found(attackWith({ ending: "silence", slow: "headers" }), () => {}, IN_VAIN)).toContain(
      "hangs: no end within the bound",
    );
  });

  test("a connection that ends without a word, or in the middle of one", async () => {
    expect(await found(attackWith(), (socket) => void socket.end())).toEqual(["closes without an answer (in order)"]);
    expect(await found(attackWith(), (socket) => void socket.resetAndDestroy())).toEqual([
      "closes without an answer (ECONNRESET)",
    ]);
    const half = answer(200, "{}").slice(0, -1);
    expect(await found(attackWith(), sendsAndEnds(half))).toContain("closes in the middle of an answer");
  });

  test("pipelined requests answered in another order", async () => {
    const text = answer(200, '"two"') + answer(200, '"one"');
    const problems = await found(attackWith({ requests: 2, inOrder: ["one", "two"] }), sends(text));
    expect(problems).toEqual(["answers pipelined requests out of their order"]);
  });
});

describe("of a request that can be read in two ways, found is that it", () => {
  const doubtful = attackWith({ broken: "refused" });
  const refusal = answer(400, error("BAD_REQUEST"));

  test("is served", async () => {
    expect(await found(doubtful, sendsAndEnds(answer(200, "{}")))).toEqual([
      "serves a request that can be read in two ways",
    ]);
  });

  test("is refused, and then the hidden one is answered", async () => {
    const problems = await found(
      doubtful,
      sendsAndEnds(refusal + answer(401, error("UNAUTHORIZED"), `${OURS}www-authenticate: Bearer\r\n`)),
    );
    expect(problems).toContain("goes on reading after a request that has no certain end");
  });

  test("leaves the connection open", async () => {
    expect(await found(doubtful, sends(refusal), IN_VAIN)).toContain("hangs: no end within the bound");
  });

  test("is refused and ended: nothing", async () => {
    expect(await found(doubtful, sendsAndEnds(refusal))).toEqual([]);
  });
});

describe("of a connection that has become a WebSocket, found is", () => {
  const frame = (first: number, payload: string | Buffer): Buffer =>
    Buffer.concat([Buffer.of(first, payload.length), Buffer.from(payload)]);
  const closing = (code: number): Buffer => frame(0x88, Buffer.of(code >> 8, code & 255));
  const switched = Buffer.from("HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n");
  const says = (...frames: readonly Buffer[]) => sendsAndEnds(Buffer.concat([switched, ...frames]).toString("latin1"));
  const failure = (code: string, words = "No."): Buffer =>
    frame(0x81, JSON.stringify({ type: "error", error: words, code }));
  const sound = attackWith({ frames: "sound" });
  const broken = attackWith({ frames: "broken" });

  test.each<[string, readonly Buffer[], string]>([
    ["a masked frame", [Buffer.of(0x81, 0x81, 1, 2, 3, 4, 5)], "sends what is no WebSocket: a masked frame"],
    ["a compressed frame", [frame(0xc1, "{}")], "sends what is no WebSocket: an unknown frame"],
    ["HTTP behind the handshake", [Buffer.from(answer(200, "{}"))], "sends what is no WebSocket: an unknown frame"],
    ["what is no JSON", [frame(0x81, "hello"), closing(1000)], "says what is no object with a type"],
    ["an error without a code", [failure("OOPS"), closing(1000)], "an error that has not our shape"],
    ["an error of its own", [failure("INTERNAL"), closing(1000)], "an error INTERNAL"],
    ["an error that quotes", [failure("BAD_JSON", "markabc"), closing(1000)], "an error quotes what it was sent"],
    ["a secret", [frame(0x81, JSON.stringify({ type: "x", key: SECRET })), closing(1000)], "tells a secret"],
    ["an end without a reason", [], "ends a WebSocket without a reason"],
    ["an end that is nobody's fault", [closing(1011)], "ends a WebSocket with 1011"],
  ])("%s", async (_what, frames, problem) => {
    expect(await found(sound, says(...frames))).toContain(problem);
  });

  test("that broken frames are taken for sound ones", async () => {
    expect(await found(broken, says(closing(1000)))).toEqual(["ends a WebSocket with 1000"]);
    expect(await found(broken, says(failure("BAD_JSON"), closing(1002)))).toEqual([]);
    expect(await found(sound, says(failure("BAD_JSON"), closing(1000)))).toEqual([]);
  });
});
