/** Reading a request: its target, the name of its route, its id and span, its parser, and its body. */
import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { isCanonicalPath } from "@svc/kit";
import { SvcError, isTraceparent } from "@svc/contract";
import { type Link, LinkedList, type OpenSpan, type Tracer, currentScope, fromOutside } from "@svc/runtime";
import { type Reply, errorReply } from "./reply.ts";

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

// Finds the route of a path by pattern. The cache is bounded, because callers choose the paths.

/** `paths`: literal, or with segments `{name}`. */
export function routeNames(paths: readonly string[]): (path: string) => string {
  const literal = new Set(paths);
  let patterns: (readonly [RegExp, string])[] | undefined;
  const byPattern = (path: string): string | undefined => {
    patterns ??= [...literal].filter((each) => each.includes("{")).map((each) => [pathPattern(each), each] as const);
    return patterns.find(([pattern]) => pattern.test(path))?.[1];
  };
  return (path) => (literal.has(path) ? path : (byPattern(path) ?? OTHER));
}

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

// What we use of Node's HTTP parser beyond its documentation: `_http_common.js`, `_http_server.js` and `node_http_parser.cc` of Node.

export interface Received extends IncomingMessage {
  /** Whether its headers ask for another protocol; later whether the server goes along. */
  readonly upgrade?: boolean | null;
}

export interface Parser {
  /** The newest request. */
  readonly incoming?: Received | null;
  /** Called with the headers of a request; what it returns llhttp takes for its own `on_headers_complete`. */
  onIncoming(incoming: Received, keepAlive: boolean): number;
  resume(): void;
  /** A copy of what was read last, within `kOnExecute` and what happens before it. */
  getCurrentBuffer(): Buffer;
  readonly constructor: { readonly kOnBody: 3; readonly kOnExecute: 5 };
  /** `kOnBody`: a piece of the body of `incoming`. */
  3: (bytes: Buffer) => void;
  /** `kOnExecute`: of what Node has read by itself so much is parsed. */
  5: (result: number | (Error & { readonly bytesParsed: number })) => void;
}

/** Undefined once the connection has left HTTP, or is closed. */
export const parserOf = (socket: Socket): Parser | undefined =>
  (socket as Socket & { parser?: Parser | null }).parser ?? undefined;

export const hasParser = (socket: Socket): boolean => parserOf(socket) !== undefined;

/** Node's server pauses a connection whose answers pile up, and its parser with it: fed meanwhile, it throws. */
export const isPausedByNode = (socket: Socket): boolean => (socket as Socket & { _paused?: boolean })._paused === true;

// Bodies of requests: content type, size, and the memory they take.

/** Why there is no body: larger than allowed, or the client went away in the middle of it. */
type BodyProblem = "too-large" | "gone";

type Read<Problem> = Promise<Buffer | Problem> | Buffer | Problem;

const EMPTY: Buffer = Buffer.alloc(0);

/**
 * The whole body. A declared length beyond the limit is refused unread; without one (chunked) it is counted while it
 * comes in. After `too-large` and `memory-full` the rest is still coming: the reply decides what to do with it.
 */
export function readBody(incoming: IncomingMessage, outgoing: ServerResponse, maxBytes: number): Read<BodyProblem>;
/** For unauthenticated callers. `memory-full`: the body was dropped to make room for others. */
export function readBody(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  maxBytes: number,
  memory: MemoryBudget,
): Read<BodyProblem | "memory-full">;
export function readBody(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  maxBytes: number,
  memory?: MemoryBudget,
): Read<BodyProblem | "memory-full"> {
  const declared = declaredBytes(incoming);
  if (declared === 0) return EMPTY;
  if (declared > maxBytes && declared !== Infinity) return "too-large";
  // A client with `Expect: 100-continue` sends nothing before this reply.
  if (incoming.headers.expect !== undefined) outgoing.writeContinue();
  return new Promise((resolve) => {
    const fromStream = (): void => readStream(incoming, { declared, maxBytes, memory }, resolve);
    const isInPieces = declared === Infinity || incoming.readableLength > 0 || incoming.destroyed;
    if (isInPieces || !takeWhole(incoming, declared, { taken: resolve, otherwise: fromStream })) fromStream();
  });
}

interface BodyLimits {
  readonly declared: number;
  readonly maxBytes: number;
  readonly memory: MemoryBudget | undefined;
}

function readStream(
  incoming: IncomingMessage,
  { declared, maxBytes, memory }: BodyLimits,
  resolve: (result: Buffer | BodyProblem | "memory-full") => void,
): void {
  if (incoming.destroyed) return resolve("gone");
  let held = EMPTY;
  let length = 0;
  let place: MemoryHolder | undefined;
  const settle = (result: Buffer | BodyProblem | "memory-full") => {
    incoming.off("data", onData).off("end", onEnd).off("close", onClose);
    if (place) memory?.leave(place);
    resolve(result);
  };
  const giveUp = (why: "too-large" | "memory-full") => {
    held = EMPTY;
    incoming.pause();
    settle(why);
  };
  const onData = (chunk: Buffer) => {
    const before = length;
    length += chunk.length;
    if (length > maxBytes) {
      giveUp("too-large");
      return;
    }
    held = before === 0 ? chunk : appended(held, before, chunk, maxBytes);
    // Most bodies come in one piece, and are gone in the same instant.
    if (memory === undefined || length === declared) return;
    place ??= memory.join(() => giveUp("memory-full"));
    memory.hold(place, held.length);
  };
  const onEnd = () => settle(held.length === length ? held : held.subarray(0, length));
  const onClose = () => settle("gone");
  // `aborted` arrives as an error, and an error event without a listener ends the process.
  incoming.on("data", onData).on("end", onEnd).on("error", ignore).on("close", onClose);
}

/**
 * Into one buffer that doubles, not a list of pieces: a body sent as a million chunks of one byte would be a million objects,
 * and take a hundred times its size.
 */
function appended(held: Buffer, length: number, chunk: Buffer, maxBytes: number): Buffer {
  const needed = length + chunk.length;
  let into = held;
  if (needed > held.length) {
    into = Buffer.allocUnsafeSlow(Math.min(maxBytes, Math.max(4096, 2 * needed)));
    held.copy(into, 0, 0, length);
  }
  chunk.copy(into, length);
  return into;
}

// A body in one piece, as nearly all are: it is taken from the parser, and costs no event and no tick of the stream.

const TAKE = Symbol("take");

interface Taking extends IncomingMessage {
  /** Called with the first piece of the body. False: it was not taken. */
  [TAKE]?: ((bytes: Buffer) => boolean) | undefined;
  /** Node's own, for requests without a body: the stream has ended, and what the parser has for it is dropped. */
  _dumpAndCloseReadable?: () => void;
}

interface Taker {
  readonly taken: (body: Buffer | "gone") => void;
  /** It comes in several pieces, and the first one next. */
  readonly otherwise: () => void;
}

/** False where no parser would hand it over. */
function takeWhole(incoming: Taking, declared: number, { taken, otherwise }: Taker): boolean {
  if (incoming._dumpAndCloseReadable === undefined || parserOf(incoming.socket)?.[3] !== onBody) return false;
  const gone = (): void => taken("gone");
  incoming.on("close", gone);
  incoming[TAKE] = (bytes) => {
    incoming.off("close", gone);
    const isWhole = endsWith(incoming, bytes, declared);
    if (isWhole) taken(bytes);
    else otherwise();
    return isWhole;
  };
  return true;
}

/** Whether this first piece is all of the body: then the stream has ended without it. */
function endsWith(incoming: Taking, bytes: Buffer, declared: number): boolean {
  incoming[TAKE] = undefined;
  if (bytes.length !== declared) return false;
  incoming._dumpAndCloseReadable!();
  // The parser says so a moment later: what waits for the body may go on before that.
  incoming.complete = true;
  return true;
}

/** Of a request that has its answer: what is left of it costs no event and no tick either. */
export function dropBody(incoming: Taking, declared: number): void {
  if (incoming._dumpAndCloseReadable === undefined || incoming.readableLength > 0 || incoming.destroyed) return;
  if (declared === 0) incoming._dumpAndCloseReadable();
  else incoming[TAKE] ??= (bytes) => endsWith(incoming, bytes, declared);
}

const PUSH = Symbol("push");

interface HandingOver extends Parser {
  /** Node's own: gives a piece of the body to the stream. */
  [PUSH]?: Parser[3];
}

/** Bodies of this parser's requests can be taken. Node uses a parser for one connection after another. */
export function takesBodyWhole(parser: HandingOver): void {
  const { kOnBody } = parser.constructor;
  if (parser[kOnBody] === onBody) return;
  parser[PUSH] = parser[kOnBody];
  parser[kOnBody] = onBody;
}

function onBody(this: HandingOver, bytes: Buffer): void {
  const take = (this.incoming as Taking | null | undefined)?.[TAKE];
  if (take === undefined || !take(bytes)) this[PUSH]!(bytes);
}

const ignore = () => {};

// JSON bodies: the content type they must come with.

/** 415 unless it is `application/json`, with any parameters, not compressed. */
export function refuseContentType(headers: IncomingHttpHeaders): Reply | undefined {
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    return errorReply("BAD_CONTENT_TYPE", { message: "The body must be sent uncompressed." });
  }
  return isJsonType(headers["content-type"]) ? undefined : errorReply("BAD_CONTENT_TYPE");
}

export function isJsonType(contentType: string | undefined): boolean {
  if (contentType === "application/json") return true;
  return contentType !== undefined && /^application\/json[ \t]*(?:;|$)/i.test(contentType);
}

// A body that is too large for memory, handed on piece by piece.

/**
 * Resolves when `write` has all of it. A declared length beyond the limit is refused unread; a body without one is counted while it
 * comes in. Throws TOO_LARGE, BAD_REQUEST when the client went away, UNAUTHORIZED when it was shut out meanwhile, and what `write`
 * throws.
 */
export async function streamBody(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  maxBytes: number,
  write: (chunk: Uint8Array) => Promise<void>,
): Promise<void> {
  const declared = declaredBytes(incoming);
  if (declared > maxBytes && declared !== Infinity) throw new SvcError("TOO_LARGE");
  if (incoming.headers.expect !== undefined) outgoing.writeContinue();
  let length = 0;
  try {
    // Where it ends early the connection stays: the answer has to be read.
    for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
      const bytes = chunk as Buffer;
      // It has its answer already: the device was revoked, or the page signed out.
      if (outgoing.headersSent) throw new SvcError("UNAUTHORIZED");
      length += bytes.length;
      if (length > maxBytes) throw new SvcError("TOO_LARGE");
      await write(bytes);
    }
  } catch (error) {
    if (error instanceof SvcError) throw error;
    throw new SvcError("BAD_REQUEST", "The body was cut off.", { cause: error });
  }
  if (!incoming.complete) throw new SvcError("BAD_REQUEST", "The body was cut off.");
  if (outgoing.headersSent) throw new SvcError("UNAUTHORIZED");
}

export const MEMORY_FULL = errorReply("BUSY", {
  message: "Too many deliveries are coming in at the same time; try again shortly.",
  retryAfterMs: 1_000,
});

const MOST_BYTES = 64 * 1_048_576;

/**
 * A bound on memory that clients make the service hold, over all of them together: bodies that are still coming in, answers that are not
 * read, messages of WebSockets that have no end yet. Each of them may have its share for as long as it likes to take, so a bound on one of
 * them bounds nothing. Past the bound the oldest holder gives up its share: honest work ends within moments.
 */
export class MemoryBudget {
  readonly #most: number;
  readonly #places = new LinkedList<MemoryHolder>();
  #bytes = 0;

  constructor(most = MOST_BYTES) {
    this.#most = most;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Adds a holder. `giveUp` is called at most once, after its share was taken away. */
  join(giveUp: () => void): MemoryHolder {
    const place = new MemoryHolder(giveUp);
    place.link = this.#places.add(place);
    return place;
  }

  /** Sets how many bytes the holder has now. */
  hold(place: MemoryHolder, bytes: number): void {
    if (place.link === undefined) return;
    this.#bytes += bytes - place.bytes;
    place.bytes = bytes;
    // The last body stays at any size: otherwise a body larger than the budget could never arrive.
    while (this.#bytes > this.#most && this.#places.size > 1) {
      const oldest = this.#places.first!;
      this.leave(oldest);
      oldest.giveUp();
    }
  }

  leave(place: MemoryHolder): void {
    if (place.link === undefined) return;
    this.#places.delete(place.link);
    this.#bytes -= place.bytes;
    place.link = undefined;
  }
}

export class MemoryHolder {
  readonly giveUp: () => void;
  bytes = 0;
  link: Link<MemoryHolder> | undefined;

  constructor(giveUp: () => void) {
    this.giveUp = giveUp;
  }
}
