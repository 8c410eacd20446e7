/** The routes a stranger can reach, `/openapi.json` apart. Bytes in, bytes out; no framework. */
import type { Logger } from "@svc/contract";
import { openExchange, type Streams } from "./auth/device-connections.ts";
import { HEALTH, type HealthRoute } from "./routes/health.ts";
import { CHANNEL_EVENTS, type ChannelEventsRoute } from "./routes/channel-events.ts";
import { declaredBytes } from "./http/request.ts";
import type { MemoryRoom } from "./http/memory-budget.ts";
import type { Handle, OwnRoute } from "./http/listener.ts";
import { METRICS } from "./routes/metrics.ts";
import { Reply } from "./http/reply.ts";
import type { Send } from "./http/send.ts";
import { withBody } from "./http/body.ts";
import { type SessionRoute, sessionRoutes } from "./routes/page-session.ts";
import { MAX_PAIR_BYTES, PAIR, type PairRoute } from "./routes/pair.ts";
import { WEBHOOK, type WebhookIngress } from "./routes/webhook.ts";

export interface OwnRoutesDeps {
  readonly webhook: WebhookIngress;
  readonly pair: PairRoute;
  readonly session: SessionRoute;
  readonly health: HealthRoute;
  readonly channelEvents: ChannelEventsRoute;
  readonly metrics: Handle;
  readonly streams: Streams;
  readonly isDraining: () => boolean;
  readonly maxBodyBytes: number;
  readonly bodyRoom: MemoryRoom;
  readonly deviceBodyRoom: MemoryRoom;
  readonly send: Send;
  readonly log: Logger;
}

export function ownRoutes(deps: OwnRoutesDeps): OwnRoute[] {
  const { webhook, pair, health, channelEvents, metrics, streams, bodyRoom: room, maxBodyBytes, send } = deps;
  const receive: Handle = (incoming, outgoing, peer) => {
    const caller = webhook.admit(incoming.headers, peer);
    if (caller instanceof Reply) return caller;
    if (caller.device) openExchange(streams, { device: caller.device }, send, incoming, outgoing);
    return withBody({ ...deps, room: deps.deviceBodyRoom }, incoming, outgoing, maxBodyBytes, (body) =>
      webhook.accept(caller, incoming.headers, body),
    );
  };
  const receivePairing: Handle = (incoming, outgoing, peer) => {
    const client = pair.admit(incoming.headers, peer, declaredBytes(incoming) > 0);
    if (client instanceof Reply) return client;
    return withBody(deps, incoming, outgoing, MAX_PAIR_BYTES, (body) => pair.accept(client, incoming.headers, body));
  };
  const receiveEvent: Handle = (incoming, outgoing, peer) =>
    channelEvents.refuse(incoming.headers, peer) ??
    withBody({ ...deps, room }, incoming, outgoing, maxBodyBytes, (body) => channelEvents.accept(body));
  return [
    { ...WEBHOOK, handle: receive },
    { ...PAIR, handle: receivePairing },
    ...sessionRoutes(deps.session, deps),
    { ...HEALTH, handle: (incoming, _outgoing, peer) => health.answer(incoming.headers, peer) },
    { ...CHANNEL_EVENTS, handle: receiveEvent },
    { ...METRICS, handle: metrics },
  ];
}
