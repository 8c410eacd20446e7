/** The routes a stranger can reach: `/webhook`, `/pair`, `/health`, `/metrics`. Bytes in, bytes out; no framework. */
import type { Logger } from "@svc/contract";
import { declaredBytes, readBody } from "./http/body.ts";
import type { Handle, RouteTable } from "./http/listener.ts";
import { errorReply, jsonReply, Reply } from "./http/reply.ts";
import type { Send } from "./http/send.ts";
import type { PairRoute } from "./pairing/route.ts";
import type { WebhookIngress } from "./webhook/ingress.ts";

export interface OwnRoutesDeps {
  readonly webhook: WebhookIngress;
  readonly pair: PairRoute;
  /** Degraded or not, and nothing about why: this is public. */
  readonly health: () => { readonly degraded: boolean };
  readonly isDraining: () => boolean;
  readonly instance: string;
  readonly maxBodyBytes: number;
  readonly send: Send;
  readonly log: Logger;
}

/** Content type as the text exposition format wants it. */
const METRICS_HINT = new Reply(
  200,
  "text/plain; version=0.0.4; charset=utf-8",
  '# metrics are off: they need the build feature "observability-metrics" and [observability] backend = "metrics"\n',
);
/** Codes and device names are short; nobody has a reason to send more. */
const MAX_PAIR_BYTES = 4096;

export function ownRoutes(deps: OwnRoutesDeps): RouteTable {
  const { webhook, pair } = deps;
  const ok = jsonReply(200, { status: "ok", instance: deps.instance });
  const degraded = jsonReply(200, { status: "degraded", instance: deps.instance });
  const health: Handle = () => {
    if (deps.isDraining()) return errorReply("DRAINING");
    return deps.health().degraded ? degraded : ok;
  };
  const receive: Handle = (incoming, outgoing, peer) => {
    const caller = webhook.admit(incoming.headers, peer);
    if (caller instanceof Reply) return caller;
    return withBody(deps, incoming, outgoing, deps.maxBodyBytes, (body) =>
      webhook.accept(caller, incoming.headers, body),
    );
  };
  const receivePairing: Handle = (incoming, outgoing, peer) => {
    const client = pair.admit(incoming.headers, peer, declaredBytes(incoming) > 0);
    if (client instanceof Reply) return client;
    return withBody(deps, incoming, outgoing, MAX_PAIR_BYTES, (body) => pair.accept(client, incoming.headers, body));
  };
  return {
    "/webhook": { POST: receive },
    "/pair": { POST: receivePairing },
    "/health": { GET: health },
    "/metrics": { GET: () => METRICS_HINT },
  };
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
    if (body === "gone") return;
    // The shutdown may have begun while the body came in, and waits for no turn that begins after it.
    const refused = body === "too-large" ? errorReply("TOO_LARGE") : deps.isDraining() && errorReply("DRAINING");
    deps.send(incoming, outgoing, refused || (await answer(body as Buffer)));
  })().catch((error: unknown) => {
    deps.log.error("a request failed unexpectedly", { cause: error instanceof Error ? error.message : "unknown" });
    deps.send(incoming, outgoing, errorReply("INTERNAL"));
  });
}
