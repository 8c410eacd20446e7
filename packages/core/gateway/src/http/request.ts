/** A request: its target, the name of its route, its id, and its span. */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { isCanonicalPath } from "@svc/kit";
import { isTraceparent } from "@svc/contract";
import { type OpenSpan, type Tracer, currentScope, fromOutside } from "@svc/runtime";

/**
 * What a request asks for, read once. Routing, limits, the rules of who may call and the handshake of a WebSocket all go by
 * this path: two readings of one target are how a request gets past the rules of one of them.
 */
export interface Target {
  /** Of the absolute form: it beats the Host (RFC 9112 section 3.2.2). */
  readonly authority: string | undefined;
  /** Empty for one that is not canonical: no route has that path. */
  readonly path: string;
  /** Behind the first question mark. */
  readonly query: string;
}

/** Undefined: the target is neither a path nor a URL. Leaves path and query alone in `incoming.url`. */
export function targetOf(incoming: IncomingMessage): Target | undefined {
  const known = incoming as Known;
  known[TARGET] ??= read(incoming);
  return known[TARGET] ?? undefined;
}

const TARGET = Symbol("target");

interface Known extends IncomingMessage {
  [TARGET]?: Target | null;
}

function read(incoming: IncomingMessage): Target | null {
  const written = incoming.url ?? "";
  if (written.startsWith("/")) return partsOf(written, undefined);
  // The absolute form is for proxies, but RFC 9112 section 3.2.2 wants it understood.
  const scheme = /^https?:\/\//i.exec(written)?.[0];
  if (scheme === undefined) return null;
  const rest = written.slice(scheme.length);
  const end = rest.search(/[/?#]/);
  const authority = end < 0 ? rest : rest.slice(0, end);
  const target = end < 0 ? "/" : rest.slice(end);
  if (authority === "" || !target.startsWith("/")) return null;
  incoming.url = target;
  return partsOf(target, authority);
}

function partsOf(target: string, authority: string | undefined): Target {
  const mark = target.indexOf("?");
  const path = mark < 0 ? target : target.slice(0, mark);
  return { authority, path: isCanonicalPath(path) ? path : "", query: mark < 0 ? "" : target.slice(mark + 1) };
}

/** Bytes the request says its body has; Infinity when it is chunked and says nothing. */
export function declaredBytes(incoming: IncomingMessage): number {
  const { headers } = incoming;
  if (headers["transfer-encoding"] !== undefined) return Infinity;
  // The strict parser let it through, so it is a whole number.
  const length = headers["content-length"];
  return length === undefined ? 0 : Number(length);
}

export const queryOf = (incoming: IncomingMessage): URLSearchParams =>
  new URLSearchParams(targetOf(incoming)?.query ?? "");

/** Which paths are a route's. */
export const pathPattern = (path: string): RegExp =>
  new RegExp(
    `^${path
      .split(/\{\w+\}/)
      .map(RegExp.escape)
      .join("[^/]+")}$`,
  );

// Observability of requests: each has an id, which its log lines carry, and its answer too when that is a 5xx. With an observer each
// request is also a span; without one, a request costs only an id and a scope.

/** The route name of a path that no route matches. */
export const OTHER = "other";

/** Runs the handler of a request. `route` is called only when an observer is active. */
export type Watch = (incoming: IncomingMessage, outgoing: ServerResponse, route: () => string, run: () => void) => void;

export class Requests {
  readonly #boot: string;
  readonly #tracer: Tracer;
  #count = 0;

  /** `instance`: random per start. Ids are `<its beginning>-<n>`, so that those of two starts in one log differ. */
  constructor(instance: string, tracer: Tracer) {
    this.#boot = instance.slice(0, 8);
    this.#tracer = tracer;
  }

  /** Runs the handler of one request, with its own id. */
  alone<T>(run: () => T): T {
    this.#count += 1;
    return fromOutside({ request: `${this.#boot}-${this.#count}` }, run);
  }

  /** Serves each request alone. */
  each(listener: RequestListener): RequestListener {
    return (incoming, outgoing) => this.alone(() => listener(incoming, outgoing));
  }

  get isWatched(): boolean {
    return this.#tracer.isWatched;
  }

  begin({ method, headers }: IncomingMessage, route: string): OpenSpan<"request"> {
    const sent = headers["traceparent"];
    // Two of them Node joins with a comma, and then it is none.
    const parent = typeof sent === "string" && isTraceparent(sent) ? sent : undefined;
    const facts = { method: METHODS.has(method) ? method! : OTHER, route };
    return this.#tracer.begin("request", facts, { parent });
  }

  /**
   * With an observer, a request is a span until its answer is handed over (`answered`), for a stream the head of the answer,
   * or until its client is gone. A request that is served again stays the same span.
   */
  readonly watch: Watch = (incoming, outgoing, route, run) => {
    if (!this.#tracer.isWatched || (outgoing as Watched)[WORK]) return run();
    const work = this.begin(incoming, route());
    (outgoing as Watched)[WORK] = work;
    const end = (): void => work.end({ status: outgoing.headersSent ? outgoing.statusCode : undefined });
    outgoing.on("close", end);
    work.during(run);
    if (outgoing.headersSent) end();
  };
}

const WORK = Symbol("work");

interface Watched extends ServerResponse {
  [WORK]?: OpenSpan<"request">;
}

/** All of an answer is handed over, however long its client takes to take it. */
export const answered = (outgoing: ServerResponse, status: number): void =>
  (outgoing as Watched)[WORK]?.end({ status });

/** The header that says which lines of the log are about an answer, where it is an error of ours; no client can choose it. */
export function requestIdHeader(status: number): readonly string[] {
  const { request } = currentScope();
  return status >= 500 && request !== undefined ? ["x-request-id", request] : [];
}

/** The parser accepts dozens more, and any client may send them: they would grow the set of labels. */
const METHODS: ReadonlySet<string | undefined> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

// Finds the route of a path by pattern. The cache is bounded, because callers choose the paths.

/** `paths`: literal, or with segments `{name}`. */
export function routeNames(paths: readonly string[]): (path: string) => string {
  const literal = new Set(paths);
  const patterns = [...literal].filter((path) => path.includes("{")).map((path) => [pathPattern(path), path] as const);
  const nameOf = (path: string): string | undefined =>
    literal.has(path) ? path : patterns.find(([pattern]) => pattern.test(path))?.[1];
  return (path) => nameOf(path) ?? OTHER;
}
