/** Readers of events as tests need them: over HTTP and over a WebSocket, that can stop reading and go on. */
import type { ClientId, SvcEvent } from "@svc/contract";
import { request, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { WebSocket } from "ws";
import { type Answer, until } from "./http.ts";
import type { Harness } from "./harness.ts";

export interface Told {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly payload: any;
}

export const delta = (text: string, name = "operator"): SvcEvent => ({
  type: "text-delta",
  turnId: "t",
  sessionId: "s",
  conversationId: "c",
  offset: 0,
  owner: `client-${name}` as ClientId,
  text,
});

type Headers = Readonly<Record<string, string>>;
export const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });

/** Of `GET /api/events`, or of another stream. */
export class EventReader {
  text = "";
  isOver = false;
  readonly response: IncomingMessage;

  constructor(response: IncomingMessage) {
    this.response = response;
    response.setEncoding("utf8");
    response.on("data", (chunk: string) => (this.text += chunk));
    response.on("error", () => {});
    response.on("close", () => (this.isOver = true));
  }

  static open(to: Pick<Harness, "port">, headers: Headers, method = "GET", path = "/api/events"): Promise<EventReader> {
    return new Promise((resolve, reject) => {
      const options = { host: "127.0.0.1", port: to.port, path, method, headers, agent: false };
      request(options, (response) => resolve(new EventReader(response)))
        .on("error", reject)
        .end();
    });
  }

  get status(): number {
    return this.response.statusCode!;
  }

  /** As a browser reads them: blocks with data. */
  get events(): Told[] {
    return this.text
      .split("\n\n")
      .slice(0, -1)
      .flatMap((block) => block.split("\n").filter((line) => line.startsWith("data: ")))
      .map((line) => JSON.parse(line.slice(6)));
  }

  /** The ids that a browser would send when it connects again. */
  get position(): string | undefined {
    return [...this.text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1];
  }

  get texts(): unknown[] {
    return textsOf(this.events);
  }

  get socket(): Socket {
    return this.response.socket;
  }

  close(): void {
    this.response.destroy();
  }
}

/** The text of deltas; of everything else the type. */
const textsOf = (events: readonly Told[]): unknown[] =>
  events.map(({ type, payload }) => (type === "text-delta" ? payload.text : type));

/** Of `GET /ws`. */
export class SocketReader {
  readonly frames: any[] = [];
  closed: number | undefined;
  pings = 0;
  readonly ws: WebSocket;

  constructor(ws: WebSocket) {
    this.ws = ws;
    ws.on("message", (data: Buffer) => this.frames.push(JSON.parse(data.toString())));
    ws.on("ping", () => (this.pings += 1));
    ws.on("error", () => {});
    ws.on("close", (code: number) => (this.closed = code));
  }

  /** Resolves when it is open; with the answer when it is refused. */
  static open(
    to: Pick<Harness, "port">,
    { protocols = ["svc.v1"], headers = {} }: { protocols?: string[]; headers?: Headers } = {},
  ): Promise<SocketReader | Answer> {
    return new Promise((resolve, reject) => {
      const ws = new WebSocket(`ws://127.0.0.1:${to.port}/ws`, protocols, { headers });
      const reader = new SocketReader(ws);
      ws.on("open", () => resolve(reader));
      ws.on("error", reject);
      ws.on("unexpected-response", (_request, response) => {
        let text = "";
        response.on("data", (chunk: Buffer) => (text += chunk.toString()));
        response.on("end", () =>
          resolve({ status: response.statusCode!, headers: response.headers, text, json: JSON.parse(text) }),
        );
      });
    });
  }

  say(frame: unknown): void {
    this.ws.send(typeof frame === "string" ? frame : JSON.stringify(frame));
  }

  get texts(): unknown[] {
    return textsOf(this.frames);
  }

  /** Of the last frame that is no event. */
  async answer(count = 1): Promise<any> {
    const answers = (): any[] => this.frames.filter(({ type }) => type === "reply" || type === "error");
    await until(() => answers().length >= count);
    return answers()[count - 1];
  }
}

/** Opens one that is let in. */
export async function socketOf(to: Pick<Harness, "port">, token: string, headers: Headers = {}): Promise<SocketReader> {
  const opened = await SocketReader.open(to, { protocols: ["svc.v1", `bearer.${token}`], headers });
  if (opened instanceof SocketReader) return opened;
  throw new Error(`refused: ${opened.text}`);
}
