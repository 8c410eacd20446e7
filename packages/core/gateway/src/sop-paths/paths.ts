/** The paths of procedures: any that is no route's, as it is written in a trigger. They come and go with the files. */
import type { Sops } from "@svc/sop";
import { openExchange } from "../auth/exchange.ts";
import type { Streams } from "../auth/streams.ts";
import type { LatePaths } from "../http/listener.ts";
import { Reply } from "../http/reply.ts";
import { withBody, type WithBodyDeps } from "../http/with-body.ts";
import { pathPattern } from "../routes/path-pattern.ts";
import type { SopIngress } from "./ingress.ts";

export interface SopPathsDeps extends WithBodyDeps {
  readonly sops: Pick<Sops, "hasPath">;
  readonly ingress: SopIngress;
  readonly streams: Streams;
  readonly maxBodyBytes: number;
  /** Of all routes that are not looked for first. */
  readonly taken: readonly string[];
}

export function sopPaths(deps: SopPathsDeps): LatePaths {
  const { sops, ingress, streams, send, maxBodyBytes } = deps;
  const taken = deps.taken.map(pathPattern);
  return {
    has: (path) => sops.hasPath(path) && !taken.some((pattern) => pattern.test(path)),
    methods: {
      POST(incoming, outgoing, peer, path) {
        const caller = ingress.admit(incoming.headers, peer);
        if (caller instanceof Reply) return caller;
        if (caller.device) openExchange(streams, { device: caller.device }, send, incoming, outgoing);
        return withBody(deps, incoming, outgoing, maxBodyBytes, (body) =>
          ingress.accept(caller, path, incoming.headers, body),
        );
      },
    },
  };
}
