/** Opens a board through a serial port or a bridge, and picks the dialects to try. */
import { type Clock, type FeatureContext, SvcError } from "@svc/contract";
import { isPublicAddress } from "@svc/kit";
import type { BoardEntry } from "@svc/kit/hardware";
import { bridgeOf } from "./config.ts";
import { BoardConnection } from "./connection.ts";
import type { Protocol } from "./dialect/dialect.ts";
import type { Link } from "./link/link.ts";

export interface OpenDeps {
  readonly clock: Clock;
  readonly resolve: FeatureContext["resolve"];
}

/** Nothing is opened before the first command. */
export function openedLate(
  { alias, board, transport, path = "" }: BoardEntry,
  baud: number | undefined,
  { clock, resolve }: OpenDeps,
): BoardConnection {
  const isBridge = transport === "bridge";
  return new BoardConnection({
    what: alias,
    clock,
    protocols: isBridge ? ["json"] : protocolsOf(board),
    speedOf: (protocol) => (isBridge ? 0 : (baud ?? (protocol === "firmata" ? 57_600 : 115_200))),
    open: async (speed, signal) => (isBridge ? openBridge(alias, path, resolve, signal) : openPort(alias, path, speed)),
  });
}
/** Loaded when a port is opened: the addon takes its time, and most commands find no board. */
const openPort = async (what: string, path: string, baud: number): Promise<Link> =>
  (await import("./link/serial-link.ts")).openSerial({ what, path, baud });

/** Commands go in plain text: a bridge is on this machine, or in a private network that the config allows. */
async function openBridge(
  what: string,
  path: string,
  resolve: FeatureContext["resolve"],
  signal: AbortSignal,
): Promise<Link> {
  const { host, port } = bridgeOf(path)!;
  const isLoopback = /^(?:127(?:\.\d{1,3}){3}|::1)$/.test(host);
  const name = host === "localhost" ? ["127.0.0.1", "::1"] : undefined;
  const addresses = isLoopback
    ? [host]
    : (name ?? (await resolve(`http://${host.includes(":") ? `[${host}]` : host}:${port}`)));
  if (addresses.some(isPublicAddress)) {
    throw new SvcError(
      "ADDRESS_REFUSED",
      `The bridge of ${what} is at a public address; its commands are not encrypted.`,
      {
        hint: "Use a bridge on this machine or in a network of security.net.allow_private.",
      },
    );
  }
  return (await import("./link/tcp-link.ts")).openTcp({ what, addresses, port }, signal);
}

/** Likely ones first. The probe for a REPL sends Ctrl-C, which must not reach a board with another protocol. */
function protocolsOf(board: string): readonly Protocol[] {
  if (/pico|esp|micro-?bit|rp2/.test(board)) return ["micropython", "json", "firmata"];
  if (/arduino/.test(board)) return ["firmata", "json"];
  return ["json", "firmata", "micropython"];
}
