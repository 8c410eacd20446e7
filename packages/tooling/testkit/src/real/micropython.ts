/** A board with MicroPython 1.27 at a serial port: `micropython-board.ts` as a process behind a pseudo-terminal. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { temporaryHome } from "../temporary-home.ts";
import type { EmulatedBoard } from "./emulated-board.ts";
import { startSerialPort } from "./serial-port.ts";

/** Needs `missingSocat`. */
export async function startMicroPython(): Promise<EmulatedBoard> {
  const home = temporaryHome();
  const board = spawn(process.execPath, [join(import.meta.dirname, "micropython-board.ts")], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const end = (): void => void board.kill("SIGKILL");
  process.once("exit", end);
  // Its greeting.
  await once(board.stdout, "data");
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.pipe(board.stdin, { end: false });
    board.stdout.pipe(socket, { end: false });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const path = join(home.path, "port");
  const port = await startSerialPort(path, server.address() as AddressInfo);
  let unplugged: Promise<void> | undefined;
  const unplug = (): Promise<void> =>
    (unplugged ??= (async () => {
      process.off("exit", end);
      await port.unplug();
      server.close();
      const ended = once(board, "exit");
      end();
      await ended;
      home.remove();
    })());
  return { path, unplug, [Symbol.asyncDispose]: unplug };
}
