/**
 * A model provider on loopback, for the real provider libraries: real HTTP and server-sent events in three wire formats
 * (Chat Completions, Responses, Messages), and every way such a provider fails.
 */
import type { Json } from "@svc/contract";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { chatCompletions } from "./chat-completions.ts";
import { messages } from "./messages.ts";
import { responses } from "./responses.ts";
import type { ModelReply, ModelStep, SseEvent, Wire } from "./step.ts";

export interface ModelRequest {
  readonly wire: Wire["id"];
  readonly method: string;
  readonly path: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: { readonly [key: string]: Json };
}

export interface FakeModelOptions {
  /** One step a request, in order; or what to do with each request. A request beyond the script gets a 500. */
  readonly script: readonly ModelStep[] | ((request: ModelRequest, index: number) => ModelStep);
}

export interface FakeModelServer extends AsyncDisposable {
  /** Base URL for the provider's library: `http://127.0.0.1:<port>/v1`. */
  readonly url: string;
  readonly requests: readonly ModelRequest[];
  /** Resolves with the request of this number (from 0) once it has arrived. */
  arrived(index: number): Promise<ModelRequest>;
  /** Connections of clients that went away before they were answered. */
  readonly abandoned: number;
  close(): Promise<void>;
}

const WIRES: readonly Wire[] = [chatCompletions, responses, messages];

export async function fakeModelServer({ script }: FakeModelOptions): Promise<FakeModelServer> {
  const requests: ModelRequest[] = [];
  const waiting = new Map<number, (request: ModelRequest) => void>();
  let abandoned = 0;

  /** Connections that the script made us drop. */
  const dropped = new WeakSet<ServerResponse>();

  const server = createServer((incoming, response) => {
    response.on("close", () => {
      if (!response.writableFinished && !dropped.has(response)) abandoned += 1;
    });
    void answer(incoming, response).catch(() => response.destroy());
  });

  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = incoming.url ?? "/";
    const wire = WIRES.find((wire) => path.replace(/\?.*$/, "").endsWith(wire.path));
    const body = await jsonOf(incoming);
    if (wire === undefined || incoming.method !== "POST" || body === undefined) {
      return sendJson(response, 404, { error: { message: "no such endpoint, or a body that is no JSON object" } });
    }
    const index = requests.length;
    const request = { wire: wire.id, method: incoming.method, path, headers: incoming.headers, body };
    requests.push(request);
    waiting.get(index)?.(request);

    const step = typeof script === "function" ? script(request, index) : script[index];
    if (step === undefined) return sendJson(response, 500, wire.error(500, "the script has no step for this request"));
    if ("status" in step) {
      return sendJson(response, step.status, wire.error(step.status, step.message ?? "scripted refusal"), step.headers);
    }
    const streaming = body["stream"] === true;
    if ("fault" in step && step.fault !== "drop-midway") {
      if (step.fault === "hang") return;
      if (step.fault === "bad-json") return sendGarbage(response, streaming);
      dropped.add(response);
      return void response.destroy();
    }
    const reply = replyOf(step, body, index);
    const midway = "fault" in step;
    if (midway) dropped.add(response);
    if (streaming) return sendEvents(response, wire.events(reply), midway, "midway" in step ? step.midway : undefined);
    if (midway) return sendHalf(response, wire.json(reply));
    sendJson(response, 200, wire.json(reply));
  };

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    arrived: (index) =>
      new Promise((resolve) => {
        const already = requests[index];
        if (already === undefined) waiting.set(index, resolve);
        else resolve(already);
      }),
    get abandoned() {
      return abandoned;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function replyOf(step: ModelStep, body: ModelRequest["body"], index: number): ModelReply {
  const { text = "", calls = [], inputTokens = 11, outputTokens = 7 } = step as Extract<ModelStep, { calls?: unknown }>;
  return {
    id: `reply-${index}`,
    model: String(body["model"] ?? "fake"),
    text,
    calls: calls.map((call, position) => ({ ...call, id: `call_${index}_${position}` })),
    inputTokens,
    outputTokens,
  };
}

async function jsonOf(incoming: IncomingMessage): Promise<ModelRequest["body"] | undefined> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  try {
    const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Json;
    return typeof body === "object" && body !== null && !Array.isArray(body)
      ? (body as ModelRequest["body"])
      : undefined;
  } catch {
    return undefined;
  }
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: Json,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

const STREAM = { "content-type": "text/event-stream", "cache-control": "no-cache" };

async function sendEvents(
  response: ServerResponse,
  events: readonly SseEvent[],
  midway: boolean,
  thinks: (() => Promise<void>) | undefined,
): Promise<void> {
  response.writeHead(200, STREAM);
  const half = Math.ceil(events.length / 2);
  const sent = midway ? events.slice(0, half) : events;
  for (const [at, { event, data }] of sent.entries()) {
    if (at === half) await thinks?.();
    const name = event === undefined ? "" : `event: ${event}\n`;
    response.write(`${name}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
    // One by one, as a model makes them: what comes at once may be read as one piece.
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (midway) setImmediate(() => response.destroy());
  else response.end();
}

function sendGarbage(response: ServerResponse, streaming: boolean): void {
  response.writeHead(200, streaming ? STREAM : { "content-type": "application/json" });
  response.end(streaming ? "data: {not json\n\n" : '{"choices": [');
}

/** Announces the whole body and closes after half of it. */
function sendHalf(response: ServerResponse, body: Json): void {
  const text = JSON.stringify(body);
  response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
  response.write(text.slice(0, text.length / 2));
  setImmediate(() => response.destroy());
}
