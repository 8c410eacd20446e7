/** CONNECT: TLS and WebSockets, as bytes to an address that was checked (RFC 9110 9.3.6). */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { ProxyParts } from "./guarding-proxy.ts";
import { dial } from "./dial.ts";
import { endWhenIdle } from "./idle.ts";
import { answerRaw, refuse } from "./refuse.ts";

export async function tunnel(request: IncomingMessage, socket: Duplex, head: Buffer, parts: ProxyParts): Promise<void> {
  socket.on("error", () => socket.destroy());
  const target = targetOf(request);
  if (target === undefined) return answerRaw(socket, 400);
  try {
    const addresses = await parts.guard.check(`https://${target.host}:${target.port}/`);
    const upstream = await dial(addresses, target.port, parts.clock);
    if (socket.destroyed || parts.closing()) {
      socket.destroy();
      upstream.destroy();
      return;
    }
    parts.track(upstream);
    join(socket, upstream);
    endWhenIdle([socket, upstream], IDLE_MS, parts.clock);
    socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
    if (head.length > 0) upstream.write(head);
  } catch (error) {
    answerRaw(socket, refuse(target.host, error, parts));
  }
}

/** A WebSocket may be silent for long; a forgotten one does not stay for ever. */
const IDLE_MS = 600_000;

interface Target {
  readonly host: string;
  readonly port: number;
}

/** A browser asks for the same host twice, in the request line and in `Host`: whoever does not is none. */
function targetOf({ url = "", headers }: IncomingMessage): Target | undefined {
  const [, host, digits] = /^(\[[0-9a-f:.]+\]|[^\s:/@?#[\]\\%]+):([0-9]{1,5})$/i.exec(url) ?? [];
  const port = Number(digits);
  if (host === undefined || port < 1 || port > 65_535) return undefined;
  const named = headers.host?.toLowerCase();
  return named === `${host.toLowerCase()}:${port}` || named === host.toLowerCase() ? { host, port } : undefined;
}

function join(one: Duplex, other: Duplex): void {
  one.pipe(other);
  other.pipe(one);
  one.once("close", () => other.destroy());
  other.once("close", () => one.destroy());
}
