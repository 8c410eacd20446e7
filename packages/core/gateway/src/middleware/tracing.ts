/**
 * Requests as others see them: each has an id, which its lines of the log have and its answer where that is an error of ours;
 * and where somebody watches it is a piece of work. Where nobody does, all of this costs a request an id and a scope.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { isTraceparent } from "@svc/contract";
import { currentScope, fromOutside, type Instruments, type OpenWork } from "@svc/kernel";
import { pathPattern } from "../http/request.ts";

/** The route of whatever is none's. */
export const OTHER = "other";

/** Runs what serves a request. `route`: asked for only where somebody watches. */
export type Watch = (incoming: IncomingMessage, outgoing: ServerResponse, route: () => string, run: () => void) => void;

export class Requests {
  readonly #boot: string;
  readonly #instruments: Instruments;
  #count = 0;

  /** `instance`: random per start. Ids are `<its beginning>-<n>`, so that those of two starts in one log differ. */
  constructor(instance: string, instruments: Instruments) {
    this.#boot = instance.slice(0, 8);
    this.#instruments = instruments;
  }

  /** Runs what serves one request, with an id of its own. */
  alone<T>(run: () => T): T {
    this.#count += 1;
    return fromOutside({ request: `${this.#boot}-${this.#count}` }, run);
  }

  /** Serves each request alone. */
  each(listener: RequestListener): RequestListener {
    return (incoming, outgoing) => this.alone(() => listener(incoming, outgoing));
  }

  get isWatched(): boolean {
    return this.#instruments.isWatched;
  }

  begin({ method, headers }: IncomingMessage, route: string): OpenWork<"request"> {
    const sent = headers["traceparent"];
    // Two of them Node joins with a comma, and then it is none.
    const parent = typeof sent === "string" && isTraceparent(sent) ? sent : undefined;
    const facts = { method: METHODS.has(method) ? method! : OTHER, route };
    return this.#instruments.begin("request", facts, { parent });
  }

  /**
   * Where somebody watches, a request is a piece of work until its answer is handed over (`answered`), or the head of one
   * that goes on, as of a stream, or until its client is gone. One that is served anew is the same piece.
   */
  readonly watch: Watch = (incoming, outgoing, route, run) => {
    if (!this.#instruments.isWatched || (outgoing as Watched)[WORK]) return run();
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
  [WORK]?: OpenWork<"request">;
}

/** All of an answer is handed over, however long its client takes to take it. */
export const answered = (outgoing: ServerResponse, status: number): void =>
  (outgoing as Watched)[WORK]?.end({ status });

/** The header that says which lines of the log are about an answer, where it is an error of ours; no client can choose it. */
export function requestIdHeader(status: number): readonly string[] {
  const { request } = currentScope();
  return status >= 500 && request !== undefined ? ["x-request-id", request] : [];
}

/** There are dozens that the parser takes, and anybody may send them. */
const METHODS: ReadonlySet<string | undefined> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

// The route of a path that is looked for by pattern. Bounded, whatever paths are asked for.

/** `paths`: literal, or with segments `{name}`. */
export function routeNames(paths: readonly string[]): (path: string) => string {
  const literal = new Set(paths);
  const patterns = [...literal].filter((path) => path.includes("{")).map((path) => [pathPattern(path), path] as const);
  const nameOf = (path: string): string | undefined =>
    literal.has(path) ? path : patterns.find(([pattern]) => pattern.test(path))?.[1];
  return (path) => nameOf(path) ?? OTHER;
}
