/** A collector of a few lines, in every mood, for `http/json`. What is on the wire is judged by the real one (receiver.e2e.test.ts). */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

export interface Sink extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly SinkRequest[];
  /** Of the requests that were answered 200. */
  readonly spans: readonly SinkSpan[];
  /** Connections that are open. */
  readonly connections: number;
  answer: Answer;
  /** Resolves when that many requests have come. */
  came(count: number): Promise<void>;
  close(): Promise<void>;
}

export interface SinkRequest {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly spans: readonly SinkSpan[];
}

export interface SinkSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly status: { readonly code: number; readonly message?: string };
  readonly attributes: Readonly<Record<string, string | number>>;
}

export type Answer = (response: ServerResponse, request: IncomingMessage) => void;

const takes: Answer = (response) => void response.writeHead(200).end("{}");

export const answers =
  (status: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response.writeHead(status, headers).end();

export async function startSink(answer: Answer = takes): Promise<Sink> {
  const requests: SinkRequest[] = [];
  const spans: SinkSpan[] = [];
  const sockets = new Set<Socket>();
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      const sent = spansIn(body);
      requests.push({ path: request.url ?? "", headers: request.headers, spans: sent });
      response.once("finish", () => response.statusCode === 200 && spans.push(...sent));
      sink.answer(response, request);
      for (const { count, resolve } of waiting) if (requests.length >= count) resolve();
    });
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  const sink: Sink = {
    url: `http://127.0.0.1:${await listen(server)}`,
    requests,
    spans,
    get connections() {
      return sockets.size;
    },
    answer,
    came: (count) =>
      new Promise((resolve) => (requests.length >= count ? resolve() : waiting.push({ count, resolve }))),
    close,
    [Symbol.asyncDispose]: close,
  };
  return sink;
}

const listen = (server: Server): Promise<number> =>
  new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)));

interface Written {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly (Omit<SinkSpan, "attributes"> & Attributed)[] }[];
  }[];
}

interface Attributed {
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, string | number>> }[];
}

const spansIn = (body: string): SinkSpan[] =>
  (JSON.parse(body) as Written).resourceSpans
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans)
    .map(({ attributes, ...span }) => ({
      ...span,
      attributes: Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]!])),
    }));
