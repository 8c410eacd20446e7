/**
 * The way of a request: door → drain → one of our own routes, answered on the raw response → hono for everything else.
 * Our own routes are the ones a stranger can reach, so they come first, cost least and read bodies with a cap.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { HostRules } from "../net/host-rules.ts";
import { type Peer, peerOf } from "../net/peer.ts";
import { enter } from "./door.ts";
import { errorReply, optionsReply, Reply } from "./reply.ts";
import type { Send } from "./send.ts";

/** Answers at once, or sends later through the response it was handed. */
export type Handle = (incoming: IncomingMessage, outgoing: ServerResponse, peer: Peer) => Reply | undefined;

/** Handlers of one path, by method. */
export type RouteTable = Readonly<Record<string, Readonly<Record<string, Handle>>>>;

export interface ListenerDeps {
  readonly rules: () => HostRules;
  readonly routes: RouteTable;
  /** Takes what no route of the table does. */
  readonly otherwise: RequestListener;
  readonly isDraining: () => boolean;
  readonly send: Send;
}

export function requestListener(deps: ListenerDeps): RequestListener {
  const routes = new Map(Object.entries(deps.routes).map(([path, methods]) => [path, route(methods)]));
  return (incoming, outgoing) => {
    const entered = enter(incoming, deps.rules());
    if (entered instanceof Reply) {
      deps.send(incoming, outgoing, entered);
      return;
    }
    const method = incoming.method ?? "";
    const own = routes.get(entered.path);
    if (own === undefined && !(deps.isDraining() && isWork(method))) {
      deps.otherwise(incoming, outgoing);
      return;
    }
    const handle = own?.get(method) ?? own?.get("*");
    const reply =
      deps.isDraining() && isWork(method)
        ? errorReply("DRAINING")
        : handle?.(incoming, outgoing, peerOf(incoming.socket));
    if (reply) deps.send(incoming, outgoing, reply);
  };
}

/** HEAD comes with GET, OPTIONS with everything; whatever else is asked is 405. */
function route(methods: Readonly<Record<string, Handle>>): Map<string, Handle> {
  const handlers = new Map(Object.entries(methods));
  const get = handlers.get("GET");
  if (get) handlers.set("HEAD", get);
  const allow = allowHeader([...handlers.keys()]);
  const options = optionsReply(allow);
  const refused = notAllowed(allow);
  handlers.set("OPTIONS", () => options);
  handlers.set("*", () => refused);
  return handlers;
}

export const allowHeader = (methods: readonly string[]): string => methods.toSorted().join(", ");

export const notAllowed = (allow: string): Reply => errorReply("METHOD_NOT_ALLOWED", { headers: ["allow", allow] });

const isWork = (method: string): boolean => method !== "GET" && method !== "HEAD" && method !== "OPTIONS";
