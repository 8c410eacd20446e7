/** What all fake platforms are made of: a real HTTP server on loopback that records what it was asked. */
import type { Json } from "@svc/contract";
import { createServer, type IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { met, type PlatformMood, type PlatformRequest, reset } from "./mood.ts";

export type { PlatformRequest } from "./mood.ts";

/** What it answers; a function for what is no plain answer, e.g. a file that never ends. */
export type PlatformReply =
  | { readonly status?: number; readonly headers?: Readonly<Record<string, string>>; readonly json: Json }
  | { readonly status?: number; readonly headers?: Readonly<Record<string, string>>; readonly bytes?: Uint8Array }
  | ((response: ServerResponse) => void);

export type PlatformHandler = (request: PlatformRequest) => PlatformReply | Promise<PlatformReply>;

export interface PlatformOptions {
  /**
   * Takes a request for another protocol, e.g. to a WebSocket. It is one of `requests`, and has the platform's mood, which
   * can't make it lose an answer.
   */
  readonly upgrade?: (incoming: IncomingMessage, socket: Socket, head: Buffer) => void;
}

export interface FakePlatform extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** All that came, whatever became of it. */
  readonly requests: readonly PlatformRequest[];
  /** May be changed at any time; as a function it is asked for each request. */
  mood: PlatformMood | ((request: PlatformRequest) => PlatformMood);
  /** Resolves with the request of this number (from 0) once it has come. */
  arrived(index: number): Promise<PlatformRequest>;
  /** Ends every connection too. */
  close(): Promise<void>;
}

/** A platform that does with each request what `handler` says, as far as its mood lets it. */
export async function startPlatform(
  handler: PlatformHandler,
  { upgrade }: PlatformOptions = {},
): Promise<FakePlatform> {
  const requests: PlatformRequest[] = [];
  const awaited = new Map<number, PromiseWithResolvers<PlatformRequest>>();

  const came = async (incoming: IncomingMessage, response: ServerResponse) => {
    const request = await requestOf(incoming);
    awaited.get(requests.push(request) - 1)?.resolve(request);
    const mood = typeof platform.mood === "function" ? platform.mood(request) : platform.mood;
    return { request, course: await met(mood, request, incoming, response) };
  };
  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { request, course } = await came(incoming, response);
    if (course === "done") return;
    const reply = await handler(request);
    if (course === "handle") send(response, reply);
    else reset(incoming);
  };

  const server = createServer((incoming, response) => {
    // The client may be gone. A handler that throws is a mistake of the fake, which a 500 shows.
    void answer(incoming, response).catch((error: unknown) => {
      if (!response.headersSent) send(response, { status: 500, json: { fake: String(error) } });
      response.destroy();
    });
  });
  const upgraded = new Set<Socket>();
  if (upgrade !== undefined) {
    server.on("upgrade", (incoming, socket: Socket, head) => {
      upgraded.add(socket.on("error", () => undefined).on("close", () => upgraded.delete(socket)));
      const response = new ServerResponse(incoming);
      response.shouldKeepAlive = false;
      response.assignSocket(socket);
      void came(incoming, response).then(({ course }) => {
        if (course === "done") return;
        response.detachSocket(socket);
        upgrade(incoming, socket, head);
      });
    });
  }
  // The caller's connections stay open: none may be closed at the moment it is used again.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
      // The server forgets those that have changed the protocol.
      for (const socket of upgraded) socket.destroy();
    });

  const platform: FakePlatform = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    mood: "takes",
    arrived(index) {
      const already = requests[index];
      if (already !== undefined) return Promise.resolve(already);
      const arrival = awaited.get(index) ?? Promise.withResolvers<PlatformRequest>();
      awaited.set(index, arrival);
      return arrival.promise;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
  return platform;
}

async function requestOf(incoming: IncomingMessage): Promise<PlatformRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const { pathname, searchParams } = new URL(incoming.url ?? "/", "http://fake");
  const headers = Object.fromEntries(
    Object.entries(incoming.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]),
  );
  return { method: incoming.method ?? "", path: pathname, query: searchParams, headers, body, json: jsonOf(body) };
}

function jsonOf(body: Buffer): Json | undefined {
  try {
    return JSON.parse(body.toString("utf8")) as Json;
  } catch {
    return undefined;
  }
}

function send(response: ServerResponse, reply: PlatformReply): void {
  if (typeof reply === "function") return reply(response);
  const { status = 200, headers = {} } = reply;
  if ("json" in reply) {
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(reply.json));
  } else response.writeHead(status, headers).end(reply.bytes);
}
