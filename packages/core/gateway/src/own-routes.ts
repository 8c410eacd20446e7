/** The routes a stranger can reach, `/openapi.json` apart. Bytes in, bytes out; no framework. */
import type { Logger } from "@svc/contract";
import { openExchange } from "./auth/exchange.ts";
import type { Streams } from "./auth/streams.ts";
import type { HealthRoute } from "./health.ts";
import { HEALTH } from "./health.ts";
import { declaredBytes, readBody } from "./http/body.ts";
import type { Handle, OwnRoute } from "./http/listener.ts";
import { METRICS, METRICS_HINT } from "./http/metrics.ts";
import { errorReply, Reply } from "./http/reply.ts";
import type { Send } from "./http/send.ts";
import { PAIR, type PairRoute } from "./pairing/route.ts";
import type { WebhookIngress } from "./webhook/ingress.ts";
import { WEBHOOK } from "./webhook/route.ts";

export interface OwnRoutesDeps {
  readonly webhook: WebhookIngress;
  readonly pair: PairRoute;
  readonly health: HealthRoute;
  readonly streams: Streams;
  readonly isDraining: () => boolean;
  readonly maxBodyBytes: number;
  readonly send: Send;
  readonly log: Logger;
}

/** Codes and device names are short; nobody has a reason to send more. */
const MAX_PAIR_BYTES = 4096;

export function ownRoutes(deps: OwnRoutesDeps): OwnRoute[] {
  const { webhook, pair, health, streams, send } = deps;
  const receive: Handle = (incoming, outgoing, peer) => {
    const caller = webhook.admit(incoming.headers, peer);
    if (caller instanceof Reply) return caller;
    if (caller.device) openExchange(streams, caller.device, send, incoming, outgoing);
    return withBody(deps, incoming, outgoing, deps.maxBodyBytes, (body) =>
      webhook.accept(caller, incoming.headers, body),
    );
  };
  const receivePairing: Handle = (incoming, outgoing, peer) => {
    const client = pair.admit(incoming.headers, peer, declaredBytes(incoming) > 0);
    if (client instanceof Reply) return client;
    return withBody(deps, incoming, outgoing, MAX_PAIR_BYTES, (body) => pair.accept(client, incoming.headers, body));
  };
  return [
    { ...WEBHOOK, handle: receive },
    { ...PAIR, handle: receivePairing },
    { ...HEALTH, handle: (incoming, _outgoing, peer) => health.answer(incoming.headers, peer) },
    { ...METRICS, handle: () => METRICS_HINT },
  ];
}

/** Reads the body, then answers; 413 when it is too large, nothing when the client is gone. Always undefined. */
function withBody(
  deps: Pick<OwnRoutesDeps, "send" | "log" | "isDraining">,
  incoming: Parameters<Handle>[0],
  outgoing: Parameters<Handle>[1],
  maxBytes: number,
  answer: (body: Buffer) => Promise<Reply>,
): undefined {
  void (async () => {
    const body = await readBody(incoming, outgoing, maxBytes);
    // Answered already: the device was revoked while its message came in, and must not have a turn for it.
    if (body === "gone" || outgoing.headersSent) return;
    // The shutdown may have begun while the body came in, and waits for no turn that begins after it.
    const refused = body === "too-large" ? errorReply("TOO_LARGE") : deps.isDraining() && errorReply("DRAINING");
    deps.send(incoming, outgoing, refused || (await answer(body as Buffer)));
  })().catch((error: unknown) => {
    deps.log.error("a request failed unexpectedly", { cause: error instanceof Error ? error.message : "unknown" });
    deps.send(incoming, outgoing, errorReply("INTERNAL"));
  });
}
