// The connections to a provider of Chat Completions: kept and let go, and whatever a server sends down one.
import { getEventListeners } from "node:events";
import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { currentScope, inScope } from "@svc/runtime";
import { afterEach, describe, expect, test, vi } from "vitest";
import { ChatCompletionsModel } from "../src/models/chat-completions.ts";
import { isPushing } from "../src/models/agent-models.ts";
import { ask } from "./agent-fixture.ts";
import { failureOf, fixtureAt, KEY, rawServer } from "./provider-fixture.ts";

const ANSWER = JSON.stringify({ choices: [{ message: { content: "yes" }, finish_reason: "stop" }] });
const EVENT = `data: ${JSON.stringify({ choices: [{ delta: { content: "yes" }, finish_reason: "stop" }] })}\n\n`;
const CALL = { prompt: [{ role: "user" as const, content: [{ type: "text" as const, text: "hello" }] }] };
const streamed = { onEvent: () => {} };

const modelAt = (baseUrl: string, apiKey = KEY) => new ChatCompletionsModel({ modelId: "m", baseUrl, apiKey });

/** Writes until the other side goes away; how much it took. */
function flood(response: ServerResponse, chunk: Buffer): { readonly bytes: number } {
  const sent = { bytes: 0 };
  const more = (): void => {
    if (response.destroyed || response.socket?.destroyed !== false) return;
    sent.bytes += chunk.length;
    response.write(chunk, () => setImmediate(more));
  };
  response.on("error", () => {});
  more();
  return sent;
}

test("calls one after the other use one connection, and so does a call after a refused one", async () => {
  const ports: (number | undefined)[] = [];
  await using server = await rawServer((request, response) => {
    ports.push(request.socket.remotePort);
    request.resume();
    response.writeHead(ports.length === 2 ? 503 : 200).end(ANSWER);
  });
  const model = modelAt(server.url);
  for (let call = 0; call < 5; call += 1) await model.doGenerate(CALL).catch(() => {});
  expect(ports).toHaveLength(5);
  expect(new Set(ports).size).toBe(1);
});

test("a server that ends each connection, or half of them without an answer, is asked over new ones", async () => {
  let requests = 0;
  await using server = await rawServer((request, response) => {
    requests += 1;
    request.resume();
    if (requests % 2 === 0) request.socket.destroy();
    else response.writeHead(200, { connection: "close" }).end(ANSWER);
  });
  const model = modelAt(server.url);
  const answers = [];
  for (let call = 0; call < 6; call += 1) answers.push(await model.doGenerate(CALL).catch(({ name }: Error) => name));
  expect(answers.filter((answer) => answer === "AI_APICallError")).toHaveLength(3);
  expect(requests).toBe(6);
});

test("what comes before the reply is not the reply", async () => {
  await using server = await rawServer((_, response) => {
    response.writeProcessing();
    response.writeEarlyHints({ link: "</a>; rel=preload" }, () => response.end(ANSWER));
  });
  expect((await modelAt(server.url).doGenerate(CALL)).content).toEqual([{ type: "text", text: "yes" }]);
});

test("a call that is cancelled before its connection is made costs no other one", async () => {
  await using server = await rawServer((_, response) => response.end(ANSWER));
  const model = modelAt(server.url);
  const cancel = new AbortController();
  const failed = model.doGenerate({ ...CALL, abortSignal: cancel.signal }).catch((error: unknown) => error);
  const other = model.doGenerate(CALL);
  cancel.abort(new Error("enough"));
  expect(await failed).toMatchObject({ message: "enough" });
  expect((await other).content).toEqual([{ type: "text", text: "yes" }]);
  expect((await model.doGenerate(CALL)).content).toEqual([{ type: "text", text: "yes" }]);
});

test("a call that is cancelled costs only its own connection, and leaves nothing at the signal", async () => {
  const ports: (number | undefined)[] = [];
  await using server = await rawServer((request, response) => {
    ports.push(request.socket.remotePort);
    if (ports.length > 1) response.end(ANSWER);
  });
  const model = modelAt(server.url);
  const cancel = new AbortController();
  const failed = model.doGenerate({ ...CALL, abortSignal: cancel.signal }).catch((error: unknown) => error);
  await expect.poll(() => ports.length).toBe(1);
  cancel.abort(new Error("enough"));
  expect(await failed).toMatchObject({ message: "enough" });
  const kept = new AbortController();
  const answer = await model.doGenerate({ ...CALL, abortSignal: kept.signal });
  expect(answer.content).toEqual([{ type: "text", text: "yes" }]);
  for (const { signal } of [cancel, kept]) expect(getEventListeners(signal, "abort")).toEqual([]);
  expect(new Set(ports).size).toBe(2);
});

test("a compressed answer that nobody asked for is read", async () => {
  await using server = await rawServer((_, response) => {
    response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(ANSWER));
  });
  expect(await ask(fixtureAt("openai-compatible", server.url).agent, "hello")).toMatchObject({ response: "yes" });
});

test("the path and the query of base_url are kept, with or without a slash at its end", async () => {
  const urls: unknown[] = [];
  await using server = await rawServer((request, response) => {
    urls.push(request.url);
    response.end(ANSWER);
  });
  for (const end of ["", "/", "/?api-version=1"]) await modelAt(`${server.url}${end}`).doGenerate(CALL);
  expect(urls).toEqual(["/v1/chat/completions", "/v1/chat/completions", "/v1/chat/completions?api-version=1"]);
});

test("the parts come in the scope of the call, also on a connection that another call has opened", async () => {
  await using server = await rawServer((_, response) => response.end(EVENT));
  const model = modelAt(server.url);
  const scopes: unknown[] = [];
  const traceparents = ["1", "2"].map((digit) => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`);
  for (const traceparent of traceparents) {
    await inScope({ traceparent }, () => model.pushParts(CALL, () => scopes.push(currentScope().traceparent)));
  }
  expect([...new Set(scopes)]).toEqual(traceparents);
});

describe("the proxy of the environment", () => {
  afterEach(() => vi.unstubAllEnvs());

  /** What it is asked for, and its answers. */
  async function proxy(environment: Readonly<Record<string, string>> = {}) {
    const asked: string[] = [];
    const server = await rawServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.end(ANSWER);
    });
    server.onConnect((request, socket) => {
      asked.push(`${request.method} ${request.url}`);
      socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    });
    const origin = new URL(server.url).origin;
    for (const name of ["http_proxy", "https_proxy"]) vi.stubEnv(name, origin);
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    return { asked, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
  }

  test("takes the calls where the operator asks for it, all over one connection", async () => {
    await using used = await proxy({ NODE_USE_ENV_PROXY: "1" });
    const model = modelAt("http://provider.test/v1");
    for (let call = 0; call < 2; call += 1) {
      expect((await model.doGenerate(CALL)).content).toEqual([{ type: "text", text: "yes" }]);
    }
    expect(used.asked).toEqual(Array.from({ length: 2 }, () => "POST http://provider.test/v1/chat/completions"));
  });

  test("is asked for a tunnel to a provider over TLS, and a refused one is a failed connection", async () => {
    await using used = await proxy({ NODE_USE_ENV_PROXY: "1" });
    await expect(modelAt("https://provider.test/v1").doGenerate(CALL)).rejects.toMatchObject({ isRetryable: true });
    expect(used.asked).toEqual(["CONNECT provider.test:443"]);
  });

  test.each([
    ["the operator does not ask for it", {}],
    ["no_proxy names the provider", { NODE_USE_ENV_PROXY: "1", no_proxy: "127.0.0.1" }],
  ])("is passed by where %s", async (_, environment) => {
    await using used = await proxy(environment);
    await using server = await rawServer((_request, response) => response.end(ANSWER));
    await modelAt(server.url).doGenerate(CALL);
    expect(used.asked).toEqual([]);
  });
});

test("a reader that throws ends the call with what it threw, and the connection", async () => {
  let isClosed = false;
  await using server = await rawServer((_, response) => {
    response.write(EVENT);
    response.on("close", () => (isClosed = true));
  });
  const model = modelAt(server.url);
  expect(isPushing(model)).toBe(true);
  const refuse = (): never => {
    throw new Error("no more");
  };
  await expect(model.pushParts(CALL, refuse)).rejects.toThrow("no more");
  await expect.poll(() => isClosed).toBe(true);
});

describe("a hostile server", () => {
  test("a line without an end is cut off, and not asked for again", async () => {
    const floods: { readonly bytes: number }[] = [];
    await using server = await rawServer((_, response) => floods.push(flood(response, Buffer.alloc(64 * 1024, "x"))));
    const error = await failureOf(fixtureAt("openai-compatible", server.url), streamed);
    expect(error).toMatchObject({ code: "MODEL_UNREACHABLE", reason: "unreadable" });
    expect(floods).toHaveLength(1);
    expect(floods[0]!.bytes).toBeLessThan(64 * 1024 * 1024);
  });

  test("a refusal without an end is cut off, and told", async () => {
    const floods: { readonly bytes: number }[] = [];
    await using server = await rawServer((_, response) => {
      response.writeHead(400);
      floods.push(flood(response, Buffer.alloc(64 * 1024, "x")));
    });
    const error = await failureOf(fixtureAt("openai-compatible", server.url));
    expect(error).toMatchObject({ code: "MODEL_REFUSED", reason: "request-refused" });
    expect(floods[0]!.bytes).toBeLessThan(32 * 1024 * 1024);
  });

  test("a bomb of gzip is cut off", async () => {
    const member = gzipSync(Buffer.alloc(4 * 1024 * 1024, "x"));
    const bomb = Buffer.concat(Array.from({ length: 40 }, () => member));
    await using server = await rawServer((_, response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end(bomb);
    });
    const error = await failureOf(fixtureAt("openai-compatible", server.url));
    expect(error).toMatchObject({ code: "MODEL_UNREACHABLE", reason: "unreadable" });
  });

  test.each([
    "HTTP/1.1 abc\r\n\r\n",
    "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n",
    "\u0000\u0001",
  ])("%j in place of a reply is a failed connection", async (bytes) => {
    await using server = await rawServer((request) => request.socket.end(bytes));
    const model = modelAt(server.url);
    await expect(model.doGenerate(CALL)).rejects.toMatchObject({ name: "AI_APICallError", isRetryable: true });
  });
});

test("a key that would begin another header is never sent, and is not in the error", async () => {
  let requests = 0;
  await using server = await rawServer((_, response) => {
    requests += 1;
    response.end(ANSWER);
  });
  const error: unknown = await modelAt(server.url, `${KEY}\r\nx-evil: 1`)
    .doGenerate(CALL)
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "ERR_INVALID_CHAR" });
  expect(String(error)).not.toContain(KEY);
  expect(requests).toBe(0);
});

test("what a turn never sets is refused, not left out", async () => {
  await expect(modelAt("http://127.0.0.1:1/v1").doGenerate({ ...CALL, temperature: 1 })).rejects.toThrow("temperature");
});
