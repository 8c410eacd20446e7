/** What streams have on the raw connection: two paths, one of which wants to be a WebSocket. */
import type { IncomingMessage } from "node:http";
import { declaredBytes } from "../http/body.ts";
import { responseInFlight } from "../http/in-flight.ts";
import type { Handle, OwnRoute } from "../http/listener.ts";
import { errorReply, Reply } from "../http/reply.ts";
import { targetOf } from "../http/target.ts";
import { upgradeCredentials } from "../auth/credentials.ts";
import { EVENTS, SOCKET } from "./specs.ts";
import { eventsHandler, type EventsDeps } from "./sse.ts";

const VERSION = "13";
const UPGRADE_REQUIRED = errorReply("UPGRADE_REQUIRED", {
  headers: ["upgrade", "websocket", "connection", "upgrade", "sec-websocket-version", VERSION],
});

export function streamRoutes(deps: EventsDeps): OwnRoute[] {
  const { authenticator, clientOf } = deps;
  const plain: Handle = ({ headers }, _outgoing, peer) => {
    const principal = authenticator.require(upgradeCredentials(headers), clientOf(headers, peer), "connect");
    return principal instanceof Reply ? principal : UPGRADE_REQUIRED;
  };
  return [
    { ...EVENTS, handle: eventsHandler(deps) },
    { ...SOCKET, handle: plain },
  ];
}

/**
 * Whether a request leaves HTTP. Anything else that asks for it is served as if it had not (curl asks for HTTP/2 that way),
 * and so is one with a body, which would be read as the first frames, or one behind a request that is being answered.
 */
export function isUpgrade(incoming: IncomingMessage): boolean {
  const { method, headers, socket } = incoming;
  return (
    method === "GET" &&
    incoming.httpVersion === "1.1" &&
    targetOf(incoming)?.path === SOCKET.path &&
    headers.upgrade?.toLowerCase() === "websocket" &&
    headers["sec-websocket-version"] === VERSION &&
    headers["transfer-encoding"] === undefined &&
    declaredBytes(incoming) === 0 &&
    responseInFlight(socket) === undefined
  );
}
