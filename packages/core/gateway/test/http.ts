/** Requests as tests need them: any Host, any method, and bytes that are no HTTP at all. */
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { CORE_PROMISES } from "./document.ts";
import type { Harness } from "./harness.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The parsed body; undefined when it is no JSON. */
  readonly json: any;
}

export interface Call {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Buffer;
}

/** Whatever a test asks for: the answer must be one that /openapi.json promises. */
export async function call(to: Pick<Harness, "port">, options: Call = {}): Promise<Answer> {
  const answer = await send(to, options);
  const broken = CORE_PROMISES.broken(options.method ?? "GET", options.path ?? "/", answer);
  if (broken !== undefined) throw new Error(broken);
  return answer;
}

function send(to: Pick<Harness, "port">, options: Call): Promise<Answer> {
  const { method = "GET", path = "/", headers = {}, body } = options;
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { host: "127.0.0.1", port: to.port, method, path, headers: headers as Record<string, string>, agent: false },
      (incoming) => {
        let text = "";
        incoming.setEncoding("utf8");
        incoming.on("data", (chunk: string) => (text += chunk));
        incoming.on("end", () =>
          resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text, json: parsed(text) }),
        );
      },
    );
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

/** `POST /webhook` with a JSON body, as a well-behaved client sends it. */
export function post(
  to: Pick<Harness, "port">,
  token: string | undefined,
  body: unknown = { message: "hi" },
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const authorization: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return call(to, {
    method: "POST",
    path: "/webhook",
    headers: { "content-type": "application/json", ...authorization, ...headers },
    body: typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body),
  });
}

/** Writes bytes and returns all that came back until the gateway closed the connection. */
export function raw(to: Pick<Harness, "port">, bytes: string | Buffer): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port: to.port }, () => socket.write(bytes));
    let text = "";
    socket.on("data", (chunk) => (text += chunk.toString("latin1")));
    socket.on("error", () => {});
    socket.on("close", () => resolve(text));
  });
}

/** An open connection to write to piece by piece. */
export class Wire {
  readonly socket: Socket;
  text = "";
  readonly closed: Promise<string>;
  #waiting: (() => void)[] = [];

  constructor(to: Pick<Harness, "port">) {
    this.socket = connect({ host: "127.0.0.1", port: to.port });
    this.socket.on("error", () => {});
    this.socket.on("data", (chunk) => {
      this.text += chunk.toString("latin1");
      for (const look of this.#waiting.splice(0)) look();
    });
    this.closed = new Promise((resolve) => this.socket.on("close", () => resolve(this.text)));
  }

  write(bytes: string): void {
    this.socket.write(bytes);
  }

  /** Resolves when `count` complete responses (all of ours have a length) have come back. */
  async responses(count: number): Promise<string[]> {
    for (;;) {
      const whole = splitResponses(this.text);
      if (whole.length >= count) return whole;
      await new Promise<void>((look) => this.#waiting.push(look));
    }
  }
}

/** Complete responses in a byte stream. */
export function splitResponses(text: string): string[] {
  const whole: string[] = [];
  for (let rest = text; ;) {
    const head = rest.indexOf("\r\n\r\n");
    if (head < 0) return whole;
    const length = Number(/content-length: (\d+)/i.exec(rest.slice(0, head))?.[1] ?? 0);
    const end = head + 4 + length;
    if (rest.length < end) return whole;
    whole.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
}

export const statusOf = (response: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(response)?.[1] ?? 0);

/** Code of our error shape in a raw response. */
export const codeOf = (response: string): unknown => parsed(response.slice(response.indexOf("\r\n\r\n") + 4))?.code;

function parsed(text: string): any {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await tick();
}
