// 300 connections that pipelined 64 KB of requests and read nothing took a gigabyte and held the event loop for ten seconds:
// Node parses all that it has read at once.
import { type IncomingMessage, createServer } from "node:http";
import { once } from "node:events";
import { connect, Socket } from "node:net";
import type { Clock } from "@svc/contract";
import { captureLogger } from "@svc/testkit/capture-logger";
import { fakeClock } from "@svc/testkit/fake-clock";
import { describe, expect, test } from "vitest";
import { peerOf } from "../src/client.ts";
import { listen } from "../src/http/connections.ts";
import { readBody } from "../src/http/request.ts";
import { type Intake, RequestBudget } from "../src/http/request-budget.ts";
import { Harness, type HarnessOptions, route } from "./harness.ts";
import { call, codeOf, splitResponses, statusOf, tick, until, Wire } from "./http.ts";

/** A connection's other end is what the kernel says, and no property that can be set. */
function socketFrom(remoteAddress: string): Socket {
  return Object.defineProperty(new Socket(), "remoteAddress", { value: remoteAddress });
}

const BODY = '{"message":"hi"}';

async function started(options: HarnessOptions = {}) {
  const harness = new Harness();
  const token = harness.device();
  await harness.start({ ...options, config: { webhook_rate_limit_per_minute: 0, ...options.config } });
  const head = (target: string, more = ""): string =>
    `${target} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n${more}\r\n`;
  const turn = head("POST /webhook", `Content-Type: application/json\r\nContent-Length: ${BODY.length}\r\n`) + BODY;
  return { harness, head, turn };
}

/** Long enough for a connection's whole backlog to be parsed, if it may be. */
async function ticks(count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1) await tick();
}

describe("requests of one connection in flight", () => {
  test("are 32 at most; the others are parsed as answers are read, in order", async () => {
    const finish: (() => void)[] = [];
    const run: HarnessOptions["run"] = ({ text }) =>
      new Promise((resolve) => finish.push(() => resolve({ response: text })));
    const { harness, head } = await started({ run });
    const turns = Array.from({ length: 40 }, (_, n) => {
      const body = JSON.stringify({ message: `turn ${n}` });
      return head("POST /webhook", `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`) + body;
    });
    const wire = new Wire(harness);
    wire.write(turns.join(""));
    await until(() => harness.turns.length === 32);
    await ticks(100);
    expect(harness.turns).toHaveLength(32);
    finish[0]!();
    await until(() => harness.turns.length === 33);
    await ticks(100);
    expect(harness.turns).toHaveLength(33);
    void (async () => {
      for (let n = 1; n < 40; n += 1) {
        await until(() => finish.length > n);
        finish[n]!();
      }
    })();
    const answers = await wire.responses(40);
    expect(answers.map((answer) => /turn \d+/.exec(answer)?.[0])).toEqual(turns.map((_, n) => `turn ${n}`));
    wire.socket.destroy();
  });

  test("do not begin while an answer is not read, and go on when it is", async () => {
    let calls = 0;
    const large = "x".repeat(16 * 1_048_576);
    const routes = [
      route("GET", "/api/large", () => Promise.resolve({ status: 200, body: large })),
      route("GET", "/api/small", () => Promise.resolve({ status: 200, body: (calls += 1) })),
    ];
    const { harness, head } = await started({ routes });
    const wire = new Wire(harness);
    wire.socket.pause();
    wire.write(head("GET /api/large"));
    await until(() => harness.clock.waiting === 1);
    wire.write(head("GET /api/small").repeat(20));
    await ticks(500);
    expect(calls).toBe(0);
    wire.socket.removeAllListeners("data");
    wire.socket.resume();
    await until(() => calls === 20);
    wire.socket.destroy();
  });

  test("whose answers wait behind a turn are fewer where these are large", async () => {
    let calls = 0;
    const half = route("GET", "/api/half", () =>
      Promise.resolve({ status: 200, body: `${(calls += 1)}${"x".repeat(131_072)}` }),
    );
    let finish = () => {};
    const { harness, head, turn } = await started({
      routes: [half],
      run: () => new Promise((resolve) => (finish = () => resolve({}))),
    });
    // The API is loaded with the first that asks for it.
    const first = new Wire(harness);
    first.write(head("GET /api/half"));
    await first.responses(1);
    first.socket.destroy();
    calls = 0;
    const wire = new Wire(harness);
    wire.write(turn);
    await until(() => harness.turns.length === 1);
    for (let sent = 1; sent <= 20; sent += 1) {
      wire.write(head("GET /api/half"));
      await ticks(20);
    }
    expect(calls).toBeLessThan(5);
    finish();
    const answers = await wire.responses(21);
    expect(answers.map(statusOf)).toEqual(Array.from({ length: 21 }, () => 200));
    wire.socket.destroy();
  });

  test("may wait again and again behind one answer: that has one listener for all of them", async () => {
    const warnings: string[] = [];
    const note = ({ name }: Error): void => void warnings.push(name);
    process.on("warning", note);
    let finish = () => {};
    const { harness, head, turn } = await started({
      run: () => new Promise((resolve) => (finish = () => resolve({}))),
    });
    const wire = new Wire(harness);
    wire.write(turn);
    await until(() => harness.turns.length === 1);
    for (let times = 0; times < 12; times += 1) {
      wire.write(head("GET /health").repeat(2));
      await ticks(20);
    }
    finish();
    expect((await wire.responses(25)).map(statusOf)).toEqual(Array.from({ length: 25 }, () => 200));
    process.off("warning", note);
    expect(warnings).toEqual([]);
    wire.socket.destroy();
  });

  test("are not all served before another connection's first one", async () => {
    const { harness, head } = await started();
    const wire = new Wire(harness);
    const request = "GET /health HTTP/1.1\r\nHost: a\r\n\r\n";
    const count = 1_900;
    wire.write(request.repeat(count));
    await wire.responses(1);
    const other = new Wire(harness);
    other.write(head("GET /health"));
    await other.responses(1);
    const before = wire.text.split("HTTP/1.1 200").length - 1;
    expect(before).toBeLessThan(count / 2);
    expect(await wire.responses(count)).toHaveLength(count);
    wire.socket.destroy();
    other.socket.destroy();
  });
});

describe("requests parsed in one turn of the event loop", () => {
  /** How many were parsed in each of the first turns, where what each leads to takes `costMs`. */
  async function turnsOf(costMs: number): Promise<number[]> {
    let nowMs = 0;
    let parsed = 0;
    const clock: Clock = { ...fakeClock(), monotonic: () => nowMs };
    const budget = new RequestBudget({ clock, log: captureLogger() });
    const proceed = (): void => {
      parsed += 1;
      // Later than the step, as an answer is.
      setImmediate(() => (nowMs += costMs));
    };
    for (let count = 0; count < 100; count += 1) budget.schedule({ proceed } as Intake);
    const turns: number[] = [];
    for (let turn = 0; turn < 6; turn += 1) {
      const before = parsed;
      await new Promise((resolve) => setImmediate(resolve));
      turns.push(parsed - before);
    }
    return turns;
  }

  test("stay as many where their answers take little", async () => {
    expect(await turnsOf(0.1)).toEqual([8, 8, 8, 8, 8, 8]);
  });

  test("become fewer, down to one, where their answers take long", async () => {
    const turns = await turnsOf(2);
    expect(turns[0]).toBe(8);
    expect(turns.at(-1)).toBe(1);
    expect(turns).toEqual(turns.toSorted((a, b) => b - a));
  });
});

describe("requests of one peer in one turn", () => {
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

  function budgetAt(time: { nowMs: number }) {
    const clock: Clock = { ...fakeClock(), monotonic: () => time.nowMs };
    const budget = new RequestBudget({ clock, log: captureLogger() });
    /** How many of `count` requests may be parsed at once. */
    return (remoteAddress: string, count: number): number =>
      Array.from({ length: count }, () => socketFrom(remoteAddress)).filter((socket) =>
        budget.mayBegin(peerOf(socket).limiterKey),
      ).length;
  }

  test("are not bounded while it is alone", () => {
    const begun = budgetAt({ nowMs: 0 });
    expect(begun("192.0.2.1", 100)).toBe(100);
  });

  test("are eight while another peer is served, which waits for nothing", async () => {
    const begun = budgetAt({ nowMs: 0 });
    begun("192.0.2.1", 100);
    expect(begun("192.0.2.2", 1)).toBe(1);
    expect(begun("192.0.2.1", 100)).toBe(8);
    expect(begun("192.0.2.2", 1)).toBe(1);
    await turn();
    expect(begun("192.0.2.1", 100)).toBe(8);
  });

  test("are not bounded any more 100 ms after the other one's last request", async () => {
    const time = { nowMs: 0 };
    const begun = budgetAt(time);
    begun("192.0.2.1", 1);
    begun("192.0.2.2", 1);
    begun("192.0.2.1", 1);
    await turn();
    time.nowMs = 99;
    expect(begun("192.0.2.1", 100)).toBe(8);
    await turn();
    time.nowMs = 100;
    begun("192.0.2.1", 1);
    await turn();
    expect(begun("192.0.2.1", 100)).toBe(100);
  });
});

describe("the one buffer into which connections are read that ask for more than may begin", () => {
  test("is in use from then on, and not before: this Node has what it needs", async () => {
    const budget = new RequestBudget({ clock: fakeClock(), log: captureLogger() });
    const server = createServer(budget.each((_incoming, outgoing) => void outgoing.end()));
    budget.guard(server);
    const port = await listen(server, "127.0.0.1", 0);
    const accepted = new Promise<Socket>((resolve) => server.once("connection", resolve));
    const client = connect(port, "127.0.0.1");
    const socket = await accepted;
    const symbol = Object.getOwnPropertySymbols(socket).find(({ description }) => description === "kBuffer")!;
    const buffer = (): unknown => (socket as unknown as { [symbol: symbol]: unknown })[symbol];
    const request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    client.write(request);
    await once(client, "data");
    expect(buffer()).toBeNull();
    // The second one may not begin yet.
    client.write(request.repeat(2));
    await until(() => buffer() instanceof Uint8Array);
    client.destroy();
    server.close();
  });

  test("holds nothing that waits: requests that were read early are what their own clients sent", async () => {
    const { harness, head } = await started();
    const wires = Array.from({ length: 20 }, () => new Wire(harness));
    const texts = wires.map((_, n) => `${n}-${String.fromCharCode(97 + n).repeat(500)}`);
    for (const [n, wire] of wires.entries()) {
      const body = JSON.stringify({ message: texts[n] });
      const more = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
      wire.write((head("POST /webhook", more) + body).repeat(3));
    }
    for (const wire of wires) expect((await wire.responses(3)).map(statusOf)).toEqual([200, 200, 200]);
    expect(harness.turns.map(({ text }) => text).toSorted()).toEqual(
      texts.flatMap((text) => [text, text, text]).toSorted(),
    );
    for (const wire of wires) wire.socket.destroy();
  });
});

describe("whatever the cut of what comes in", () => {
  const stream = async () => {
    const { harness, head, turn } = await started();
    const chunked =
      head("POST /webhook", "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n") +
      `4\r\n{"me\r\n${(BODY.length - 4).toString(16)}\r\n${BODY.slice(4)}\r\n0\r\n\r\n`;
    const blank = head("POST /webhook", "Content-Type: application/json\r\nContent-Length: 8\r\n") + "\r\n\r\n\r\n\r\n";
    const parts = [turn, head("GET /health"), chunked, "\r\n\r\n", head("GET /nowhere"), blank, chunked, turn];
    return { harness, bytes: parts.join(""), statuses: [200, 200, 200, 404, 400, 200, 200] };
  };

  test.each([1, 2, 3, 5, 7, 64, 1_000_000])("pieces of %i bytes are the same requests", async (size) => {
    const { harness, bytes, statuses } = await stream();
    const wire = new Wire(harness);
    wire.socket.setNoDelay(true);
    for (let at = 0; at < bytes.length; at += size) {
      wire.write(bytes.slice(at, at + size));
      if (size < 64) await tick();
    }
    expect((await wire.responses(statuses.length)).map(statusOf)).toEqual(statuses);
    expect(harness.turns.map(({ text }) => text)).toEqual(["hi", "hi", "hi", "hi"]);
    wire.socket.destroy();
  });

  test.each(["", "\r\n", "\r\n\r\n", " \r\n\r\n \r"])(
    "a request in one piece is read to its end, and so is the next one: %j behind its JSON",
    async (blanks) => {
      const { harness, head } = await started();
      const length = BODY.length + blanks.length;
      const heads = ["Content-Length", "content-length"].map((name) =>
        head("POST /webhook", `Content-Type: application/json\r\n${name}: ${length}\r\n`),
      );
      const wire = new Wire(harness);
      for (const [answered, one] of [...heads, ...heads].entries()) {
        wire.write(one + BODY + blanks);
        expect((await wire.responses(answered + 1)).map(statusOf)).toEqual(Array(answered + 1).fill(200));
      }
      expect(harness.turns.map(({ text }) => text)).toEqual(["hi", "hi", "hi", "hi"]);
      wire.socket.destroy();
    },
  );

  test.each([
    ["a second length", `Content-Length: ${BODY.length}\r\nContent-Length: 1\r\n`],
    ["chunks beside a length", `Content-Length: ${BODY.length}\r\nTransfer-Encoding: chunked\r\n`],
    ["a length that is no number", `Content-Length: ${BODY.length}\r\nContent-Length: x\r\n`],
  ])("a request in one piece that has %s is refused", async (_what, lengths) => {
    const { harness, head } = await started();
    const wire = new Wire(harness);
    wire.write(head("POST /webhook", `Content-Type: application/json\r\n${lengths}`) + BODY);
    expect(codeOf(await wire.closed)).toBe("BAD_REQUEST");
    expect(harness.turns).toEqual([]);
  });

  test.each([2, 3, 100])("the end of the stream comes behind the %i requests before it", async (count) => {
    const { harness } = await started();
    const wire = new Wire(harness);
    wire.socket.end("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(count));
    expect((await wire.closed).split("HTTP/1.1 200")).toHaveLength(count + 1);
  });

  test("a request that had to wait, and has no body, is known to be whole: no limit on its coming cuts it", async () => {
    const seen: IncomingMessage[] = [];
    const budget = new RequestBudget({ clock: fakeClock(), log: captureLogger() });
    const server = createServer(
      budget.each((incoming, outgoing) => {
        seen.push(incoming);
        setImmediate(() => outgoing.end());
      }),
    );
    budget.guard(server);
    const wire = new Wire({ port: await listen(server, "127.0.0.1", 0) });
    wire.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n".repeat(2));
    await wire.responses(2);
    expect(seen.map(({ complete }) => complete)).toEqual([true, true]);
    wire.socket.destroy();
    server.close();
  });

  test("requests behind an unsupported Upgrade are answered", async () => {
    const { harness } = await started();
    const asked = "Upgrade: h2c\r\nConnection: Upgrade\r\n";
    const parts = ["", asked, asked, "", asked].map((more) => `GET /health HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`);
    const wire = new Wire(harness);
    wire.write(parts.join(""));
    expect((await wire.responses(5)).map(statusOf)).toEqual([200, 200, 200, 200, 200]);
    wire.write(parts[1]!);
    expect((await wire.responses(6)).map(statusOf).at(-1)).toBe(200);
    wire.socket.destroy();
  });

  test.each([0, 1, 10, BODY.length])("a refused body is dropped, %i bytes of it with the head", async (first) => {
    const { harness, turn } = await started();
    const refused =
      `POST /webhook HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${BODY.length}\r\n\r\n`;
    const wire = new Wire(harness);
    for (const answered of [1, 3]) {
      wire.write(refused + BODY.slice(0, first));
      await wire.responses(answered);
      await ticks(5);
      wire.write(BODY.slice(first));
      wire.write(turn);
      await wire.responses(answered + 1);
    }
    expect((await wire.responses(4)).map(statusOf)).toEqual([401, 200, 401, 200]);
    wire.socket.destroy();
  });

  test("requests of two peers, many of one: each gets its turn", async () => {
    const { harness } = await started();
    const request = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const served = async (localAddress: string): Promise<number> => {
      const socket = connect({ port: harness.port, host: "127.0.0.1", localAddress });
      for (let count = 0; count < 5; count += 1) {
        socket.write(request);
        await once(socket, "data");
      }
      socket.destroy();
      return 5;
    };
    const peers = [...Array.from({ length: 60 }, () => "127.0.0.1"), "127.0.0.2"];
    expect(await Promise.all(peers.map(served))).toEqual(peers.map(() => 5));
  });

  test.each([
    ["a head", "GARBAGE\r\n\r\n"],
    ["a long line without an end", "x".repeat(10_000)],
    ["the beginning of a TLS handshake", "\u0016\u0003\u0001\u0000"],
  ])("what is broken behind a request, and the end behind that, do not take its answer: %s", async (_what, rest) => {
    let finish = () => {};
    const run = () => new Promise<object>((resolve) => (finish = () => resolve({})));
    const { harness, turn } = await started({ run });
    const wire = new Wire(harness);
    wire.socket.end(turn + rest);
    await until(() => harness.turns.length === 1);
    await ticks(100);
    finish();
    expect((await wire.closed).split(/(?=HTTP\/1\.1 )/).map(statusOf)).toEqual([200]);
  });

  test("what is broken behind other requests is refused after them", async () => {
    const { harness } = await started();
    const wire = new Wire(harness);
    wire.write(`${"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(40)}BROKEN\r\n\r\n`);
    const answers = (await wire.closed).split(/(?=HTTP\/1\.1 )/);
    expect(answers.slice(0, 40).map(statusOf)).toEqual(Array.from({ length: 40 }, () => 200));
    expect(answers.slice(40).map(codeOf)).toEqual(answers.length > 40 ? ["BAD_REQUEST"] : []);
  });
});

test("a connection whose client reads none of many answers is destroyed after two minutes", async () => {
  const large = route("GET", "/api/large", () => Promise.resolve({ status: 200, body: "x".repeat(16 * 1_048_576) }));
  const { harness, head } = await started({ routes: [large] });
  const wire = new Wire(harness);
  wire.socket.pause();
  wire.write(head("GET /api/large").repeat(10));
  await until(() => harness.clock.waiting === 1);
  await harness.clock.advance(119_999);
  expect(harness.gateway.connections).toBe(1);
  await harness.clock.advance(1);
  await until(() => harness.gateway.connections === 0);
  wire.socket.destroy();
});

test("past what may be unread of all, the client that has not read for the longest goes; one that reads is served", async () => {
  const body = "x".repeat(16 * 1_048_576);
  const large = route("GET", "/api/large", () => Promise.resolve({ status: 200, body }));
  const { harness, head } = await started({ routes: [large] });
  const deaf: Wire[] = [];
  for (let count = 0; count < 8; count += 1) {
    const wire = new Wire(harness);
    deaf.push(wire);
    wire.socket.pause();
    wire.write(head("GET /api/large"));
    await until(() => harness.clock.waiting >= Math.min(count + 1, 4) && harness.gateway.connections <= 5);
    await ticks(50);
  }
  expect(harness.gateway.connections).toBeLessThanOrEqual(5);
  expect((await call(harness, { path: "/health" })).status).toBe(200);
  expect(harness.log.lines.filter(({ level }) => level === "warn")).toHaveLength(1);
  for (const wire of deaf) wire.socket.destroy();
});

test("more connections with waiting requests than 512: the one that has waited the longest goes", async () => {
  const { harness, turn } = await started({ run: () => new Promise(() => {}) });
  const wires: Wire[] = [];
  for (let count = 0; count < 514; count += 1) {
    const wire = new Wire(harness);
    wires.push(wire);
    wire.write(turn.repeat(33));
    await until(() => harness.turns.length === 32 * (count + 1));
  }
  await until(() => harness.gateway.connections === 512);
  await wires[0]!.closed;
  await wires[1]!.closed;
  expect(wires[2]!.socket.destroyed).toBe(false);
  for (const wire of wires) wire.socket.destroy();
});

describe("a body in one piece", () => {
  /** A server that answers with the body, and tells which came by the stream. */
  async function echo(): Promise<{ port: number; reads: string[]; close: () => void }> {
    const reads: string[] = [];
    const budget = new RequestBudget({ clock: fakeClock(), log: captureLogger() });
    const server = createServer(
      budget.each((incoming, outgoing) => {
        const before = incoming.listenerCount("data");
        void Promise.resolve(readBody(incoming, outgoing, 100)).then((text) => outgoing.end(text));
        incoming.once("newListener", (event) => event === "data" && reads.push("the stream"));
        if (incoming.listenerCount("data") > before) reads.push("the stream");
      }),
    );
    budget.guard(server);
    const port = await listen(server, "127.0.0.1", 0);
    return { port, reads, close: () => void server.close() };
  }

  const post = (body: string): string => `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const bodyOf = (response: string): string => response.slice(response.indexOf("\r\n\r\n") + 4);

  test("is read without an event of the stream, and the connection goes on", async () => {
    const { port, reads, close } = await echo();
    const wire = new Wire({ port });
    for (const [at, body] of ["one", "two", "three"].entries()) {
      wire.write(post(body));
      expect(bodyOf((await wire.responses(at + 1))[at]!)).toBe(body);
    }
    expect(reads).toEqual([]);
    wire.socket.destroy();
    close();
  });

  test("is no other when it comes in several, late, or with other requests", async () => {
    const { port, reads, close } = await echo();
    const wire = new Wire({ port });
    const request = post("in pieces");
    wire.write(request.slice(0, -5));
    await until(() => reads.length === 1);
    wire.write(request.slice(-5));
    await wire.responses(1);
    const late = post("late");
    wire.write(late.slice(0, -4));
    await ticks(20);
    wire.write("late");
    await wire.responses(2);
    wire.write(post("piped") + post("lined"));
    expect((await wire.responses(4)).map(bodyOf)).toEqual(["in pieces", "late", "piped", "lined"]);
    expect(reads).toEqual(["the stream"]);
    wire.socket.destroy();
    close();
  });

  test("costs a refused request no time, whether its connection stays or ends", async () => {
    const harness = new Harness();
    await harness.start();
    const refused = (more: string): string =>
      `POST /webhook HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer svc_${"0".repeat(64)}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${BODY.length}\r\n${more}\r\n${BODY}`;
    const wire = new Wire(harness);
    wire.write(refused(""));
    await wire.responses(1);
    wire.write("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
    expect((await wire.responses(2)).map(statusOf)).toEqual([401, 200]);
    wire.write(refused("Connection: close\r\n"));
    // The clock stands still: the end of the connection waits for nothing.
    expect(splitResponses(await wire.closed).map(statusOf)).toEqual([401, 200, 401]);
  });
});
