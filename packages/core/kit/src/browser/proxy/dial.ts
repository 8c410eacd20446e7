/** A connection to exactly the addresses that were checked: no name is resolved here. */
import { type Socket, connect } from "node:net";
import { type Clock, SvcError } from "@svc/contract";

/** The first of the addresses that takes a connection. Throws REMOTE_UNREACHABLE. */
export async function dial(addresses: readonly string[], port: number, clock: Pick<Clock, "after">): Promise<Socket> {
  for (const address of addresses) {
    const socket = await dialOne(address, port, clock);
    if (socket !== undefined) return socket;
  }
  throw new SvcError("REMOTE_UNREACHABLE");
}

function dialOne(host: string, port: number, clock: Pick<Clock, "after">): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, allowHalfOpen: true, noDelay: true });
    const end = (outcome: Socket | undefined): void => {
      cancel();
      if (outcome === undefined) socket.destroy();
      resolve(outcome);
    };
    const cancel = clock.after(CONNECT_TIMEOUT_MS, () => end(undefined));
    socket.once("connect", () => end(socket));
    // Stays: a socket without a listener would end the process with its error.
    socket.on("error", () => end(undefined));
  });
}

/** For one address of several. */
const CONNECT_TIMEOUT_MS = 5000;
