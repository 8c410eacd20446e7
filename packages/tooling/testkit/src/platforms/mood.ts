/** How a fake platform behaves towards requests, whatever they ask for. */
import type { Json } from "@svc/contract";
import type { IncomingMessage, ServerResponse } from "node:http";

export interface PlatformRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
  /** The body, where it is JSON. */
  readonly json: Json | undefined;
}

export type PlatformMood =
  /** Does what it is asked. */
  | "takes"
  /** Never answers. */
  | "hangs"
  /** Resets the connection before it has done anything. */
  | "resets"
  /** Does what it is asked, and resets the connection instead of saying so. */
  | "loses answers"
  /** Answers this status and quotes the request, credentials and all, as some platforms do. */
  | { readonly refuses: number; readonly headers?: Readonly<Record<string, string>> }
  /** Answers 429, to be asked again after so many seconds. */
  | { readonly rateLimits: number }
  /** Answers 200 with this instead of what it should say, having done nothing. */
  | { readonly babbles: string }
  /** Answers 302 to this URL. */
  | { readonly redirects: string }
  /** Answers when this resolves: a gate that a test opens, or a clock's sleep. */
  | { readonly slow: () => Promise<void> }
  /** Of so many requests, from 0 to 1, as `how`; the others are taken. */
  | { readonly fails: number; readonly random: () => number; readonly how: PlatformMood };

/** What is left to do after the mood has had its say. */
export type Course = "handle" | "handle and reset" | "done";

export async function met(
  mood: PlatformMood,
  request: PlatformRequest,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<Course> {
  if (mood === "takes") return "handle";
  if (mood === "loses answers") return "handle and reset";
  if (mood === "hangs") return "done";
  if (mood === "resets") return reset(incoming);
  if ("fails" in mood) return mood.random() < mood.fails ? met(mood.how, request, incoming, response) : "handle";
  if ("slow" in mood) {
    await mood.slow();
    return "handle";
  }
  if ("babbles" in mood) return answered(response, 200, {}, mood.babbles);
  if ("redirects" in mood) return answered(response, 302, { location: mood.redirects }, "");
  const [status, headers] =
    "refuses" in mood ? [mood.refuses, mood.headers] : [429, { "retry-after": String(mood.rateLimits) }];
  return answered(response, status, { "content-type": "application/json", ...headers }, quoting(request));
}

function answered(response: ServerResponse, status: number, headers: Record<string, string>, body: string): "done" {
  response.writeHead(status, headers).end(body);
  return "done";
}

export function reset(incoming: IncomingMessage): "done" {
  incoming.socket.resetAndDestroy();
  return "done";
}

/** All that was sent, so that a channel which tells the platform's words gives its secrets away in a test. */
function quoting({ path, query, headers, body }: PlatformRequest): string {
  const text = Buffer.from(body).toString("latin1").slice(0, 65_536);
  return JSON.stringify({ error: { message: "refused", path, query: query.toString(), headers, body: text } });
}
