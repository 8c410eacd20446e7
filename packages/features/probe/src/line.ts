/** The TCP connection to the GDB server: to this machine, or to an address that the guard lets through. */
import { type FeatureContext, SvcError } from "@svc/contract";
import { withTimeout } from "@svc/kit/async";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

const CONNECT_MS = 5000;

/** Host and port of `gdb_server`; a bare port is one of this machine. Throws CONFIG_INVALID. */
export function parseServer(text: string): { readonly host: string; readonly port: number } {
  const [, bracketed, plain, digits] = /^(?:\[([\da-f:]+)\]:|([\w.-]+):|:)?(\d{1,5})$/i.exec(text.trim()) ?? [];
  const port = Number(digits);
  if (!(port >= 1 && port <= 65_535)) {
    throw new SvcError("CONFIG_INVALID", "hardware.gdb_server is not a host and a port.", {
      hint: 'Write it as "127.0.0.1:3333".',
    });
  }
  return { host: bracketed ?? plain ?? "127.0.0.1", port };
}

/** Throws CONFIG_INVALID, ADDRESS_REFUSED, REMOTE_UNREACHABLE, REMOTE_TIMEOUT. */
export async function openLine(
  server: string,
  { resolve, clock }: Pick<FeatureContext, "resolve" | "clock">,
  signal: AbortSignal,
): Promise<Socket> {
  const { host, port } = parseServer(server);
  const [address = host] = isLoopback(host) ? [host] : await resolve(`http://${urlHost(host)}:${port}`);
  signal.throwIfAborted();
  const socket = connect({ host: address, port, noDelay: true });
  const { promise, resolve: opened, reject } = Promise.withResolvers<void>();
  const tooLate = (): SvcError =>
    new SvcError("REMOTE_TIMEOUT", "The GDB server did not accept the connection in time.");
  socket.once("connect", opened).once("error", ({ code }: NodeJS.ErrnoException) => reject(unreachable(code)));
  try {
    await withTimeout({ clock, timeoutMs: CONNECT_MS, signal, error: tooLate }, () => promise);
    return socket;
  } catch (error) {
    socket.on("error", () => undefined).destroy();
    throw error;
  }
}

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);

const urlHost = (host: string): string => (host.includes(":") ? `[${host}]` : host);

const unreachable = (code = "connection failed"): SvcError =>
  new SvcError("REMOTE_UNREACHABLE", `The GDB server of hardware.gdb_server can't be reached (${code}).`, {
    hint: "Start it and connect the board, for example: openocd -f board/st_nucleo_f4.cfg",
  });

/** A free port of loopback, for a server that takes its port as an option. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
