/** A machine that no page may reach: every connection and every datagram to it is noted, before a byte of it is read. */
import { createSocket } from "node:dgram";
import { type AddressInfo, createServer, type Socket } from "node:net";

export interface ForbiddenMachine {
  /** TCP and UDP. */
  readonly port: number;
  /** What has reached it: `tcp GET /img`, `udp`. */
  readonly seen: readonly string[];
  close(): Promise<void>;
}

export async function startForbiddenMachine(): Promise<ForbiddenMachine> {
  const seen: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const place = seen.push("tcp") - 1;
    sockets.add(socket);
    socket.on("error", () => undefined).once("close", () => sockets.delete(socket));
    socket.once("data", (bytes) => {
      seen[place] = `tcp ${bytes.toString("latin1").split("\r\n", 1)[0]?.slice(0, 80)}`;
      // Answers every request, so that a broken guard shows the page.
      socket.end(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nAccess-Control-Allow-Origin: *\r\nConnection: close\r\n\r\nFORBIDDEN-PAGE",
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const datagrams = createSocket("udp4", () => seen.push("udp"));
  await new Promise<void>((resolve) => datagrams.bind(port, "127.0.0.1", resolve));
  return {
    port,
    seen,
    close: () =>
      new Promise((resolve) => {
        datagrams.close();
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
