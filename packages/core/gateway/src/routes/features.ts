/** Routes of features: checked at start, then served like core's own. Reading needs `read`, the rest `operate`. */
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { ParameterSchemas } from "@svc/api";
import {
  type ClientId,
  type Clock,
  type Json,
  type Logger,
  type RouteCaller,
  type RouteEvent,
  type RouteResult,
  SvcError,
} from "@svc/contract";
import { type Ongoing, type RegisteredRoute, isRoutePath, pathsMeet } from "@svc/runtime";
import * as v from "valibot";
import { type Devices, type Principal, opens } from "../auth/authenticator.ts";
import { type PageSessions, isOwnPage, openPage } from "../auth/page-sessions.ts";
import { type MemoryBudget, answered, queryOf } from "../http/request.ts";
import { Reply, errorReply, jsonReply } from "../http/reply.ts";
import { EVENT_STREAM_TYPE, LAST_EVENT_ID, RETRY_MS, lastEventId, openStream } from "../streams/sse.ts";
import { type OpenStream, STUCK_MS, type SubscriberRegistry, sseFrame } from "../streams/subscribers.ts";
import { CORE_PATHS } from "./core-paths.ts";
import { type AnyRequest, type AnyRoute, type BodyLimits, anyBody, jsonBody } from "./route.ts";
import type { Device } from "@svc/store";

export interface FeatureRouteDeps extends FeatureSignInDeps {
  readonly maxBodyBytes: number;
  /** Counts the requests: a feature stops only after the last one ends. */
  readonly ongoing: Ongoing;
  /** For bodies of unauthenticated callers, and of devices. */
  readonly bodyMemory: MemoryBudget;
  readonly deviceBodyMemory: MemoryBudget;
  /** Streams take places of it. */
  readonly subscribers: SubscriberRegistry;
  readonly clock: Clock;
  readonly log: Logger;
  /** False: the feature gave up. */
  isUp(feature: string): boolean;
  /** Features that may sign a page in. */
  readonly authFeatures: ReadonlySet<string>;
}

/** What a stranger may send: a passkey's answer with all its certificates is a few kB. */
const MAX_STRANGER_BYTES = 65_536;

/** Throws FEATURE_CONFLICT naming every path that is not below /api/ or is taken. */
export function featureRoutes(routes: readonly RegisteredRoute[], options: FeatureRouteDeps): AnyRoute[] {
  const known = new Set<string>();
  const problems: string[] = [];
  for (const { method, path, access, stream } of routes.map(({ route }) => route)) {
    const name = `${method} ${path}`;
    if (stream && (method !== "GET" || access === "open")) problems.push(`${name} streams, and is no GET of a device`);
    if (!isRoutePath(path)) problems.push(`${name} is not a path below /api/`);
    else if (CORE_PATHS.some((core) => pathsMeet(core, path))) problems.push(`${name} is on a path of core`);
    else if (known.has(name)) problems.push(`${name} is claimed twice`);
    known.add(name);
  }
  if (problems.length > 0) throw new SvcError("FEATURE_CONFLICT", `${problems.join("; ")}.`);
  return routes.map((route) => served(route, options));
}

function served(registered: RegisteredRoute, options: FeatureRouteDeps): AnyRoute {
  const { feature, route } = registered;
  const { method, path, doc } = route;
  const { maxBodyBytes, ongoing, bodyMemory, deviceBodyMemory, isUp } = options;
  const takesBody = method !== "GET";
  const access = route.access ?? (takesBody ? "operate" : "read");
  const limits: BodyLimits =
    access === "open"
      ? { maxBytes: Math.min(maxBodyBytes, MAX_STRANGER_BYTES), memory: bodyMemory }
      : { maxBytes: maxBodyBytes, memory: deviceBodyMemory };
  return {
    ...doc,
    method,
    path,
    access,
    params: paramsOf(path),
    errors: [...(doc.errors ?? []), "FEATURE_DOWN", ...(route.stream ? (["BUSY", "DRAINING"] as const) : [])],
    ...(route.stream && streamed(doc)),
    ...(takesBody && doc.body === undefined && { body: v.unknown(), bodyOptional: true }),
    isUp: () => isUp(feature),
    handle: (request) =>
      ongoing.during(async () => {
        const body = doc.body ? await jsonBody(request, doc.body, limits) : await anyBody(request, limits);
        return body instanceof Reply ? body : answer(registered, request, body as Json, options);
      }),
  };
}

/** What such a route takes and answers beside its own. */
const streamed = ({ answers }: RegisteredRoute["route"]["doc"]) => ({
  details: `With \`Accept: text/event-stream\` it streams server-sent events; each has an id for Last-Event-ID.`,
  headers: { "Last-Event-ID": LAST_EVENT_ID },
  answers: { ...answers, ...(answers[200] && { 200: { ...answers[200], moreTypes: [EVENT_STREAM_TYPE] } }) },
});

const paramsOf = (path: string): ParameterSchemas =>
  Object.fromEntries(
    Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = ""]) => [
      name,
      v.pipe(v.string(), v.description("Of the path, percent-encoded.")),
    ]),
  );

async function answer(
  { feature, route }: RegisteredRoute,
  { principal, params, env }: AnyRequest,
  body: Json,
  options: FeatureRouteDeps,
): Promise<Reply | undefined> {
  const { incoming, outgoing } = env;
  const gone = new AbortController();
  const onClose = () => gone.abort(new SvcError("TURN_CANCELLED", "The client closed its connection."));
  const device = route.stream && wantsStream(incoming.headers) ? principal?.device : undefined;
  outgoing.once("close", onClose);
  try {
    const { origin } = incoming.headers;
    const query = queryOf(incoming);
    const asked = { caller: callerOf(principal), params, query, body, origin, signal: gone.signal };
    if (device) {
      const events = await route.stream!({ ...asked, lastEventId: lastEventId(incoming.headers) });
      // Asked when the place is taken: nobody gets in between.
      const refusal = options.subscribers.refusal(device);
      if (refusal || outgoing.headersSent || outgoing.destroyed) {
        gone.abort();
        return refusal;
      }
      sendEvents(options, { device, path: route.path, events, gone, isHead: incoming.method === "HEAD" }, outgoing);
      return undefined;
    }
    const result = await route.handle(asked);
    if (result.signIn === undefined) return jsonReply(result.status, result.body);
    return await featureSignIn(options, signInOf(result, feature, options), incoming.headers);
  } finally {
    outgoing.off("close", onClose);
  }
}

function callerOf(principal: Principal | undefined): RouteCaller {
  if (principal === undefined) return { kind: "stranger" };
  const { device, signIn } = principal;
  return { kind: "device", clientId: device.clientId, proof: signIn === undefined ? "token" : "page" };
}

/** Throws an error that is logged and answered INTERNAL: a feature that returns this is broken, or hostile. */
function signInOf(
  { status, body, signIn }: RouteResult,
  feature: string,
  { authFeatures }: Pick<FeatureRouteDeps, "authFeatures">,
) {
  if (!authFeatures.has(feature)) throw new Error(`feature ${feature} is not of kind auth and may not sign users in`);
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new TypeError(`feature ${feature} signs a page in, and its body is no object`);
  }
  return { status, body: body as { readonly [name: string]: Json }, clientId: signIn! };
}

// The answer of a feature that found out by its own means who is there: the page is signed in as that device.

export interface FeatureSignInDeps {
  readonly devices: Pick<Devices, "ofClient" | "get">;
  readonly pageSessions: Pick<PageSessions, "open" | "idleMs">;
}

export interface SignInAnswer {
  readonly status: number;
  readonly body: { readonly [name: string]: Json };
  readonly clientId: ClientId;
}

const REVOKED = errorReply("UNAUTHORIZED", { message: "The device that this belongs to was revoked." });

/** As `POST /api/session` answers, with the feature's body around it. Rejects with STORE_*. */
async function featureSignIn(
  { devices, pageSessions }: FeatureSignInDeps,
  { status, body, clientId }: SignInAnswer,
  headers: IncomingHttpHeaders,
): Promise<Reply> {
  // A device that is being revoked still has a name, but may not sign in.
  const device = devices.get(devices.ofClient(clientId)?.id ?? "");
  if (device === undefined) return REVOKED;
  if (!opens(device.scope, "read")) return errorReply("FORBIDDEN_SCOPE");
  if (!isOwnPage(headers)) return errorReply("BAD_ORIGIN");
  const opened = await openPage(pageSessions, device, headers);
  return jsonReply(status, { ...body, ...opened.body }, opened.setCookie);
}

// The paths of features below `/api/`, reserved whether or not this build has the feature. Without the feature the answer
// says why, and what to do.

export interface FeaturePath {
  readonly feature: string;
  /** Why it is not there, for a person; undefined: it is on, and leaves the path out. */
  readonly missing: string | undefined;
}

export const FEATURE_DOWN = errorReply("FEATURE_DOWN");

/** The answer for a path without a route. A feature that is enabled and failed is down, not missing. */
export function absentReply({ feature, missing }: FeaturePath, isUp: (feature: string) => boolean): () => Reply {
  const absent = missing === undefined ? errorReply("NOT_FOUND") : errorReply("NOT_CONFIGURED", { message: missing });
  return () => (isUp(feature) ? absent : FEATURE_DOWN);
}

// Streams of features: `Route.stream` as server-sent events. They take places of the same registry as `GET /api/events`, so that the
// limits, the beat, the end of a reader that does not read, and the shutdown are the same for all.

/** Whether `Accept` names server-sent events. Who takes anything gets the answer in one piece. */
const wantsStream = ({ accept }: IncomingHttpHeaders): boolean =>
  (accept ?? "")
    .split(",")
    .some((range) => /^\s*text\/event-stream\s*(?:;(?!\s*q=0(?:\.0{0,3})?\s*$).*)?$/i.test(range));

interface RouteStreamDeps {
  readonly subscribers: SubscriberRegistry;
  readonly clock: Clock;
  readonly log: Logger;
}

interface OpenedRoute {
  readonly device: Pick<Device, "id">;
  readonly path: string;
  readonly events: AsyncIterable<RouteEvent>;
  /** Aborts the signal that the feature was handed. */
  readonly gone: AbortController;
  readonly isHead: boolean;
}

/** Opens the answer and sends the events in the background. The connection's device has a place. */
function sendEvents(
  { subscribers, clock, log }: RouteStreamDeps,
  { device, path, events, gone, isHead }: OpenedRoute,
  outgoing: ServerResponse,
): void {
  openStream(outgoing);
  answered(outgoing, 200);
  if (isHead) {
    gone.abort(GONE);
    outgoing.end();
    return;
  }
  const stream = new RouteStream(device.id, outgoing, clock, gone);
  subscribers.add(stream);
  outgoing.on("error", () => {});
  outgoing.on("close", () => subscribers.leave(stream));
  outgoing.write(`retry: ${RETRY_MS}\n\n`);
  void stream.send(events).catch((error: unknown) => {
    log.error("a stream of a feature failed", { path, cause: error instanceof Error ? error.message : "unknown" });
    outgoing.destroy();
  });
}

const GONE = new SvcError("TURN_CANCELLED", "The client closed its connection.");

class RouteStream implements OpenStream {
  readonly deviceId: string;
  readonly #outgoing: ServerResponse;
  readonly #clock: Clock;
  readonly #gone: AbortController;
  /** Since when the client has not read what was written. */
  #behindSinceMs: number | undefined;

  constructor(deviceId: string, outgoing: ServerResponse, clock: Clock, gone: AbortController) {
    this.deviceId = deviceId;
    this.#outgoing = outgoing;
    this.#clock = clock;
    this.#gone = gone;
  }

  /** Rejects with what the feature throws that is no `SvcError`. */
  async send(events: AsyncIterable<RouteEvent>): Promise<void> {
    const outgoing = this.#outgoing;
    try {
      for await (const { id, type, data } of events) {
        if (this.#isOver) return;
        if (!outgoing.write(sseFrame(id, type, JSON.stringify(data)))) await this.#read();
      }
      if (!this.#isOver) outgoing.end();
    } catch (error) {
      if (this.#isOver) return;
      if (!(error instanceof SvcError)) throw error;
      this.notice("error", { error: error.message, code: error.code });
      outgoing.end();
    }
  }

  get #isOver(): boolean {
    return this.#gone.signal.aborted || this.#outgoing.destroyed || this.#outgoing.writableEnded;
  }

  /** Resolves when the client has read what was written, or is gone. */
  async #read(): Promise<void> {
    const outgoing = this.#outgoing;
    if (outgoing.destroyed) return;
    this.#behindSinceMs = this.#clock.monotonic();
    await new Promise<void>((resolve) => {
      const over = (): void => {
        outgoing.off("drain", over).off("close", over);
        resolve();
      };
      outgoing.on("drain", over).on("close", over);
    });
    this.#behindSinceMs = undefined;
  }

  notice(type: string, payload: object): void {
    if (this.#isOver || this.#behindSinceMs !== undefined) return;
    this.#outgoing.write(`event: ${type}\ndata: ${JSON.stringify(payload)}\n\n`);
  }

  beat(): void {
    if (this.#isOver) return;
    if (this.#behindSinceMs === undefined) this.#outgoing.write(":\n\n");
    else if (this.#clock.monotonic() - this.#behindSinceMs >= STUCK_MS) this.cut();
  }

  stop(): void {
    this.#gone.abort(GONE);
  }

  end(): void {
    this.stop();
    if (this.#behindSinceMs === undefined) this.#outgoing.end();
    else this.cut();
  }

  cut(): void {
    this.#outgoing.destroy();
  }
}
