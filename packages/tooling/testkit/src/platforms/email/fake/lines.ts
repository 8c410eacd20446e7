/** What comes over a socket, line by line, and counted bytes in between. Binary: one character a byte. */
import type { Socket } from "node:net";

/** As a crash does. What has said its last word can't be reset any more: its handle would never be closed. */
export function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}

export interface Lines {
  /** Without its CRLF; undefined when the connection has ended. */
  next(): Promise<string | undefined>;
  bytes(count: number): Promise<string | undefined>;
}

export function createLines(socket: Socket): Lines {
  let buffered = "";
  let isOver = false;
  let wake = (): void => undefined;
  socket.on("data", (chunk: Buffer) => {
    buffered += chunk.toString("latin1");
    wake();
  });
  socket.on("close", () => {
    isOver = true;
    wake();
  });
  const until = async (length: () => number | undefined): Promise<string | undefined> => {
    for (;;) {
      const end = length();
      if (end !== undefined) {
        const taken = buffered.slice(0, end);
        buffered = buffered.slice(end);
        return taken;
      }
      if (isOver) return undefined;
      await new Promise<void>((resolve) => (wake = resolve));
    }
  };
  return {
    async next() {
      const line = await until(() => {
        const at = buffered.indexOf("\r\n");
        return at < 0 ? undefined : at + 2;
      });
      return line?.slice(0, -2);
    },
    bytes: (count) => until(() => (buffered.length < count ? undefined : count)),
  };
}
