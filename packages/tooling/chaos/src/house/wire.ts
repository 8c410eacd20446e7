/**
 * A way to a server for one life of the daemon, with a port of its own. What comes over it was sent by that life, however
 * late it is read; and a life's platform can be cut off while the others' work.
 */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface Wire {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
  /** From here on connections are refused. */
  cut(): Promise<void>;
  /** As before. */
  mend(): Promise<void>;
}

export async function startWire(to: string): Promise<Wire> {
  const target = Number(new URL(to).port);
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ host: "127.0.0.1", port: target, allowHalfOpen: true, noDelay: true });
    near.setNoDelay(true);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
      socket.on("data", (chunk) => void (other.writable && other.write(chunk)));
      socket.on("end", () => other.end());
    }
    // What a life wrote before it was killed is on its way, and arrives.
    near.on("error", () => far.end());
    // The platform resets a connection: so does this end of it.
    far.on("error", () => near.resetAndDestroy());
    far.on("close", () => near.end());
  });
  const listen = (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, "127.0.0.1", () => {
        server.off("error", reject);
        resolve();
      });
    });
  const cut = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    cut,
    mend: () => listen(port),
  };
}
