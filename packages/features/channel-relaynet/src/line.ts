/** A WebSocket to a relay: to an address that was checked a moment before, and to no other. */
import { isIPv6 } from "node:net";
import { type FeatureContext, SvcError } from "@svc/contract";
import { isPublicAddress, retryAfterMs, withTimeout } from "@svc/kit";
import { WebSocket } from "ws";

export interface LineDeps extends Pick<FeatureContext, "clock" | "resolve"> {
  /** Public addresses only: the URL comes from a person's relay list, not from the operator. */
  readonly isForeign?: boolean;
}

const CONNECT_LIMIT_MS = 20_000;
const MAX_FRAME_BYTES = 1_048_576;

/**
 * Resolves with an open socket that reads nothing until it is resumed. Rejects with ADDRESS_REFUSED, CHANNEL_UNAUTHORIZED,
 * DELIVERY_REFUSED, REMOTE_*, and the signal's reason.
 */
export async function connected(
  url: string,
  { clock, resolve, isForeign = false }: LineDeps,
  signal: AbortSignal,
): Promise<WebSocket> {
  const addresses = await resolve(url);
  signal.throwIfAborted();
  const [address] = addresses;
  if (address === undefined) throw new SvcError("REMOTE_UNREACHABLE", "The relay's host has no address.");
  const isPublic = addresses.some(isPublicAddress);
  if (isPublic && url.startsWith("ws:")) {
    throw new SvcError("ADDRESS_REFUSED", "A relay on a public address is reached by wss:// only.", {
      hint: "Write wss:// in channels_config.relaynet.relays.",
    });
  }
  if (isForeign && !addresses.every(isPublicAddress)) {
    throw new SvcError("ADDRESS_REFUSED", "The relay list of a person leads to a private address.");
  }
  const family = isIPv6(address) ? 6 : 4;
  const socket = new WebSocket(url, {
    perMessageDeflate: false,
    followRedirects: false,
    maxPayload: MAX_FRAME_BYTES,
    lookup: (_host, options, done) =>
      options.all === true ? done(null, [{ address, family }]) : done(null, address, family),
  });
  const outcome = Promise.withResolvers<void>();
  socket.on("open", () => {
    // Frames come with the handshake's answer: none may be read before the listeners are there.
    socket.pause();
    outcome.resolve();
  });
  socket.on("error", () => outcome.reject(new SvcError("REMOTE_UNREACHABLE", "The relay does not take connections.")));
  socket.on("unexpected-response", (_request, response) => {
    response.resume();
    outcome.reject(handshakeError(response.statusCode ?? 0, response.headers["retry-after"], clock.now()));
  });
  const tooLate = (): SvcError => new SvcError("REMOTE_TIMEOUT", "The relay did not take the connection in time.");
  try {
    await withTimeout({ clock, timeoutMs: CONNECT_LIMIT_MS, signal, error: tooLate }, () => outcome.promise);
    socket.removeAllListeners();
    return socket;
  } catch (error) {
    socket.removeAllListeners();
    // The library emits once more for a connection that is given up before it was made.
    socket.on("error", () => undefined);
    socket.terminate();
    throw error;
  }
}

function handshakeError(status: number, retryAfter: string | undefined, nowMs: number): SvcError {
  if (status === 401 || status === 403) {
    return new SvcError("CHANNEL_UNAUTHORIZED", `The relay refuses this account (HTTP ${status}).`);
  }
  if (status === 429 || status < 400 || status >= 500) {
    const waitMs = retryAfterMs(retryAfter, nowMs);
    return new SvcError("REMOTE_UNREACHABLE", `The relay does not take connections (HTTP ${status}).`, {
      ...(waitMs !== undefined && { retryAfterMs: waitMs }),
    });
  }
  return new SvcError("DELIVERY_REFUSED", `This is no relay (HTTP ${status}).`, {
    hint: "Check channels_config.relaynet.relays.",
  });
}
