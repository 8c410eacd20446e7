/** Routes of features. Core's are the gateway's own. */
import type { GenericSchema } from "valibot";
import type { ErrorCode } from "./error-codes.ts";
import type { ClientId } from "./identity.ts";
import type { Json } from "./json.ts";

/** A route below `/api/`. */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /**
   * e.g. `/api/plugins`, with segments `{name}` that stand for any one. A path is one feature's, with all its methods, and is on
   * no other pattern.
   */
  readonly path: string;
  /**
   * Whose request it takes: a device's that may read, or one that may change things; `open` takes everybody's but that of
   * another site's page, with a body of at most 64 KiB, thirty a minute from one client to all open routes together, and is
   * only for paths that the manifest lists as open. Default: `read` for GET, else `operate`.
   */
  readonly access?: "read" | "operate" | "open";
  readonly doc: RouteDoc;
  handle(request: RouteRequest): Promise<RouteResult>;
  /**
   * Of a GET route that is not open: what a client whose `Accept` names `text/event-stream` gets instead of `handle`'s answer. A
   * rejection is answered as an error; after that the events are sent as server-sent events. The next event is asked for only when the
   * client has read most of those before it, so what waits for a slow client is the feature's to bound. The iteration must end or throw
   * when `signal` is aborted (the client is gone, the service stops) and when the feature is shut down; the client then connects again,
   * with the id of the last event that it has.
   */
  stream?(request: RouteStreamRequest): Promise<AsyncIterable<RouteEvent>>;
}

export interface RouteStreamRequest extends RouteRequest {
  /** `Last-Event-ID`: what came after it is wanted. It is what the client says. */
  readonly lastEventId: string | undefined;
}

export interface RouteEvent {
  /** The client's `Last-Event-ID` when it connects again; without line breaks. */
  readonly id: string;
  /** a-z and -, e.g. `text`. `service-draining` and `error` are the gateway's. */
  readonly type: string;
  readonly data: Json;
}

export interface RouteResult {
  readonly status: number;
  readonly body: Json;
  /**
   * Signs a page in as the paired device that this client is: the answer gets its cookie, and `csrf` and `device` are added
   * to the body, an object, as with `POST /api/session`. Only of features of kind `auth`. Answered UNAUTHORIZED where there
   * is no such device any more, FORBIDDEN_SCOPE where it is a program's, BAD_ORIGIN where no page of ours asks.
   */
  readonly signIn?: ClientId;
}

/** What a route takes and answers, for `/openapi.json`. What does not fit `query` and `body` never reaches the route. */
export interface RouteDoc {
  /** One sentence. */
  readonly summary: string;
  /** By parameter; each a schema of a string, `v.optional` where it may be missing. Parameters not named here pass. */
  readonly query?: Readonly<Record<string, GenericSchema>>;
  /** Without one, any JSON or none is taken. */
  readonly body?: GenericSchema;
  /** By status, below 400. */
  readonly answers: Readonly<Record<number, RouteAnswer>>;
  /** Codes it throws, beside those of every route. */
  readonly errors?: readonly ErrorCode[];
}

export interface RouteAnswer {
  readonly description: string;
  readonly body: GenericSchema;
}

export interface RouteRequest {
  readonly caller: RouteCaller;
  /** By `{name}` of the path, decoded once: any text, slashes and dots included. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** What the body schema makes of the JSON that came; null without a body. */
  readonly body: Json;
  /** `Origin` of the request, if it has one: http(s), on a host that is served, with the gateway's or `public_url`'s port. */
  readonly origin: string | undefined;
  readonly signal: AbortSignal;
}

/**
 * The caller. `proof`: a bearer token, or the sign-in of a page. `operator`: a caller on the control socket. `stranger`: only
 * on public routes.
 */
export type RouteCaller =
  | { readonly kind: "device"; readonly clientId: ClientId; readonly proof: "token" | "page" }
  | { readonly kind: "operator" }
  | { readonly kind: "stranger" };
