/** The node:http server: strict parsing, bounded headers, and timers that only ever measure how long RECEIVING takes. */
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { SvcError } from "@svc/contract";
import type { Requests } from "../observe/requests.ts";
import { refuseAmbiguous } from "./framing.ts";
import { onClientError, onConnect } from "./parser-errors.ts";
import type { RequestBudget } from "./request-budget.ts";

const MAX_HEADER_BYTES = 16_384;
/** All headers must be here by then: a client that sends one byte a minute would hold a connection for ever. */
const HEADERS_TIMEOUT_MS = 20_000;
/** Headers and body. Counted only while the request comes in; a turn that runs for an hour is not cut by it. */
const REQUEST_TIMEOUT_MS = 120_000;
const TIMEOUT_CHECK_MS = 5_000;
/** Longer than the idle time of usual proxies (60 s): the side that reuses a connection must be the first to close it. */
const KEEP_ALIVE_MS = 65_000;

export interface Listeners {
  readonly serve: RequestListener;
  readonly onUnknownExpectation: RequestListener;
  /** Whether a request is for the server's `upgrade`; all others are served as if they had not asked for one. */
  readonly isUpgrade: (incoming: IncomingMessage) => boolean;
}

export function createHttpServer(
  { serve, onUnknownExpectation, isUpgrade }: Listeners,
  requests: Pick<Requests, "each" | "watch">,
  budget: RequestBudget,
): Server {
  const guarded = refuseAmbiguous(requests.watch);
  const each = (listener: RequestListener): RequestListener => budget.each(requests.each(guarded(listener)));
  const server = createServer(
    {
      insecureHTTPParser: false,
      // A missing Host is refused by the door, in the shape of every other error; Node would send an empty body.
      requireHostHeader: false,
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      noDelay: true,
      shouldUpgradeCallback: isUpgrade,
    },
    each(serve),
  );
  server.timeout = 0;
  // Node would silently drop the headers beyond its default of 2000; the size limit bounds them already.
  server.maxHeadersCount = 0;
  budget.guard(server);
  server.on("clientError", onClientError);
  server.on("connect", onConnect);
  // Checks come before the body is asked for; `readBody` says when to send it.
  server.on("checkContinue", each(serve));
  server.on("checkExpectation", each(onUnknownExpectation));
  return server;
}

/** Resolves with the port listened on. Throws ADDRESS_IN_USE, or CONFIG_INVALID when the address can't be had at all. */
export function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const failed = (cause: NodeJS.ErrnoException) => reject(listenError(cause));
    server.once("error", failed);
    server.listen({ host, port }, () => {
      server.off("error", failed);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** Tries to listen, and lets go. Our own port, which is in use by us, is taken to be free. Throws what `listen` rejects with. */
export async function checkListen(
  { host, port }: { readonly host: string; readonly port: number },
  ownPort: number,
): Promise<void> {
  const server = createServer();
  await listen(server, host, port === ownPort ? 0 : port);
  await new Promise((resolve) => server.close(resolve));
}

function listenError(cause: NodeJS.ErrnoException): SvcError {
  if (cause.code === "EADDRINUSE") {
    return new SvcError("ADDRESS_IN_USE", undefined, { hint: "Stop the other program, or set gateway.port.", cause });
  }
  return new SvcError("CONFIG_INVALID", `gateway.host and gateway.port can't be listened on (${cause.code}).`, {
    hint: "gateway.host must be an address of this machine; ports below 1024 need a privilege.",
    cause,
  });
}
