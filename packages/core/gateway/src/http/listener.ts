/**
 * The way of a request: door → drain → one of our own routes or a channel's path, answered on the raw response → hono for
 * everything else. Those are the ones a stranger can reach, so they come first, cost least and read bodies with a cap.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { enter, type HostRules } from "../middleware/host-check.ts";
import { type Peer, peerOf } from "../middleware/client.ts";
import { OTHER, type Watch } from "../middleware/tracing.ts";
import type { RouteSpec } from "../routes/route.ts";
import { allowHeader, errorReply, notAllowed, optionsReply, Reply } from "./reply.ts";
import type { Send } from "./send.ts";

/** Answers at once, or sends later through the response it was handed. */
export type Handle = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  peer: Peer,
  path: string,
) => Reply | undefined;

export interface OwnRoute extends RouteSpec {
  readonly handle: Handle;
}

/** Paths that come and go while the gateway runs. */
export interface LatePaths {
  has(path: string): boolean;
  readonly methods: Readonly<Record<string, Handle>>;
}

export interface ListenerDeps {
  readonly rules: HostRules;
  readonly routes: readonly OwnRoute[];
  /** The page's files, by path. */
  readonly page: ReadonlyMap<string, Handle>;
  /** By path; of every method, also while draining. Their platforms call them by whatever Host they like. */
  readonly channels: ReadonlyMap<string, Handle>;
  /** Looked for where there is no other route. */
  readonly late: LatePaths;
  /** The route of a path that `otherwise` takes. */
  readonly routeOf: (path: string) => string;
  /** Takes what none of the routes does. */
  readonly otherwise: RequestListener;
  readonly isDraining: () => boolean;
  readonly send: Send;
  readonly watch: Watch;
}

/** Where a request goes. */
interface Way {
  /** For observers: never the path itself, which is anybody's. */
  readonly route: (path: string) => string;
  readonly handle: Handle;
}

export function requestListener(deps: ListenerDeps): RequestListener {
  const { rules, channels, late, isDraining, send, watch } = deps;
  const byPath = Map.groupBy(deps.routes, ({ path }) => path);
  const handled = (routes: readonly OwnRoute[]): Handle =>
    handlerOf(new Map(routes.map(({ method, handle }) => [method, handle])), isDraining);
  const own = Array.from(byPath, ([path, routes]) => [path, handled(routes)] as const);
  const ways = new Map<string, Way>([
    ...Array.from(deps.page, ([path, handle]) => [path, { route: () => "page", handle }] as const),
    ...[...channels, ...own].map(([path, handle]) => [path, { route: () => path, handle }] as const),
  ]);
  const toLate: Way = {
    route: () => "sop",
    handle: handlerOf(new Map(Object.entries(late.methods)), isDraining),
  };
  const toOthers: Way = { route: deps.routeOf, handle: elsewhere(deps) };
  const wayTo = (path: string): Way => ways.get(path) ?? (late.has(path) ? toLate : toOthers);
  const door = { rules, open: channels, page: deps.page };
  return (incoming, outgoing) => {
    const entered = enter(incoming, door);
    const { route, handle } = entered instanceof Reply ? refusal(entered) : wayTo(entered.path);
    const path = entered instanceof Reply ? "" : entered.path;
    watch(
      incoming,
      outgoing,
      () => route(path),
      () => {
        const reply = handle(incoming, outgoing, peerOf(incoming.socket), path);
        if (reply) send(incoming, outgoing, reply);
      },
    );
  };
}

const refusal = (reply: Reply): Way => ({ route: () => OTHER, handle: () => reply });

/** Paths without a route of ours go to hono; a path that is not canonical is 404. */
const elsewhere =
  ({ isDraining, otherwise }: ListenerDeps): Handle =>
  (incoming, outgoing, _peer, path) => {
    if (isDraining() && isWork(incoming.method!)) return errorReply("DRAINING");
    if (path === "") return errorReply("NOT_FOUND");
    otherwise(incoming, outgoing);
    return undefined;
  };

/** HEAD comes with GET, OPTIONS with everything; whatever else is asked is 405. */
function handlerOf(handlers: Map<string, Handle>, isDraining: () => boolean): Handle {
  const get = handlers.get("GET");
  if (get) handlers.set("HEAD", get);
  const allow = allowHeader([...handlers.keys()]);
  const options = optionsReply(allow);
  const refused = notAllowed(allow);
  handlers.set("OPTIONS", () => options);
  return (incoming, outgoing, peer, path) => {
    const method = incoming.method!;
    if (isDraining() && isWork(method)) return errorReply("DRAINING");
    const handle = handlers.get(method);
    return handle ? handle(incoming, outgoing, peer, path) : refused;
  };
}

const isWork = (method: string): boolean => method !== "GET" && method !== "HEAD" && method !== "OPTIONS";
