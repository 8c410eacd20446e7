/** The way to where the platform says: a WebSocket to an address that was checked a moment before, and to no other. */
import { isIPv6 } from "node:net";
import { type FeatureContext, SvcError } from "@svc/contract";
import { withTimeout } from "@svc/kit";
import { WebSocket } from "ws";

const CONNECT_LIMIT_MS = 30_000;
const MAX_FRAME_BYTES = 4 * 1_048_576;

/**
 * Resolves with an open socket that reads nothing until it is resumed. Rejects with ADDRESS_REFUSED, CHANNEL_UNAUTHORIZED, REMOTE_*,
 * and the signal's reason.
 */
export async function connected(
  url: string,
  { clock, resolve }: Pick<FeatureContext, "clock" | "resolve">,
  signal: AbortSignal,
): Promise<WebSocket> {
  const [address] = await resolve(url);
  signal.throwIfAborted();
  if (address === undefined) throw new SvcError("REMOTE_UNREACHABLE", "The platform's host has no address.");
  const family = isIPv6(address) ? 6 : 4;
  const socket = new WebSocket(url, {
    perMessageDeflate: false,
    followRedirects: false,
    maxPayload: MAX_FRAME_BYTES,
    lookup: (_host, options, done) =>
      options.all === true ? done(null, [{ address, family }]) : done(null, address, family),
  });
  const outcome = Promise.withResolvers<void>();
  const fail = (why: unknown): void => outcome.reject(why);
  socket.on("open", () => {
    // Frames come with the handshake's answer: none may be read before the listeners are there.
    socket.pause();
    outcome.resolve();
  });
  socket.on("error", () => fail(new SvcError("REMOTE_UNREACHABLE", "The platform does not take the long connection.")));
  socket.on("unexpected-response", (_request, response) => {
    response.resume();
    fail(handshakeError(response.headers));
  });
  const tooLate = (): SvcError =>
    new SvcError("REMOTE_TIMEOUT", "The platform did not open the long connection in time.");
  try {
    await withTimeout({ clock, timeoutMs: CONNECT_LIMIT_MS, signal, error: tooLate }, () => outcome.promise);
    socket.removeAllListeners();
    return socket;
  } catch (error) {
    socket.removeAllListeners();
    // The library emits one more error for a connection that is closed before it opens.
    socket.on("error", () => undefined);
    socket.terminate();
    throw error;
  }
}

function handshakeError(headers: Readonly<Record<string, unknown>>): SvcError {
  const status = headers["handshake-status"];
  const isRefused = status === "403" || (status === "514" && headers["handshake-autherrcode"] !== "1000040350");
  return isRefused
    ? new SvcError("CHANNEL_UNAUTHORIZED", "The platform refuses the long connection of this app.")
    : new SvcError("REMOTE_UNREACHABLE", "The platform does not take the long connection.");
}
