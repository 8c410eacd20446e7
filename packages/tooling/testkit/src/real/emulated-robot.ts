/**
 * An emulated Arduino Uno with the firmware of a robot, behind a bridge on loopback. The test has the board's line too: it asks the board
 * for the times of its own clock while svc is killed, held up or cut off.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { temporaryHome } from "../temporary-home.ts";
import { buildUno } from "./emulated-board.ts";

/** Times in milliseconds of the board's clock. */
export interface RobotReport {
  readonly now: number;
  /** The last command that set the motors. */
  readonly set_at: number;
  readonly stopped_at: number;
  readonly moves: 0 | 1;
  /** Commands that set the motors, ever. */
  readonly commands: number;
  /** Ends by the board's own timer. */
  readonly expiries: number;
  /** Millimetres to the wall ahead. */
  readonly wall: number;
  /** When `mark`, `sensor` or `switch` was told, or the robot touched the wall, whichever was last. */
  readonly fault_at: number;
  /** Commands of svc that came from then until the motors stood, the stop included. */
  readonly heard: number;
}

export interface EmulatedRobot extends AsyncDisposable {
  /** `tcp://127.0.0.1:…` */
  readonly path: string;
  report(): Promise<RobotReport>;
  /** Any other command of the firmware. */
  ask(cmd: string, args: Readonly<Record<string, number>>): Promise<unknown>;
  /** Ends the connection, and takes no other while it is cut. */
  cut(isCut: boolean): void;
}

const EMULATOR = "qemu-system-avr";

/** Of the test's own commands; svc counts from 1. */
const OWN = "t-";

export async function startEmulatedRobot(): Promise<EmulatedRobot> {
  const home = temporaryHome();
  const elf = buildUno("uno-robot", home.path);
  const machine = ["-M", "uno", "-bios", elf, "-nographic", "-monitor", "none", "-serial", "stdio"];
  const board = spawn(EMULATOR, machine, { stdio: ["pipe", "pipe", "inherit"] });
  const end = (): void => void board.kill("SIGKILL");
  process.once("exit", end);
  const sockets = new Set<Socket>();
  const waiting = new Map<string, (answer: unknown) => void>();
  const ready = Promise.withResolvers<void>();
  let isCut = false;
  let count = 0;

  eachLine(board.stdout, (line) => {
    if (line.includes("firmware ready")) return ready.resolve();
    const { id = "", result } = parsed(line);
    if (!id.startsWith(OWN)) {
      for (const socket of sockets) socket.write(`${line}\n`);
      return;
    }
    waiting.get(id)?.(result);
    waiting.delete(id);
  });
  const server = createServer((socket) => {
    if (isCut) return void socket.destroy();
    sockets.add(socket);
    socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
    eachLine(socket, (line) => void board.stdin.write(`${line}\n`));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  await ready.promise;

  const ask = (cmd: string, args: Readonly<Record<string, number>>): Promise<unknown> => {
    const id = `${OWN}${(count += 1)}`;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    waiting.set(id, resolve);
    board.stdin.write(`${JSON.stringify({ id, cmd, args })}\n`);
    return promise;
  };
  return {
    path: `tcp://127.0.0.1:${(server.address() as { port: number }).port}`,
    ask,
    report: async () => (await ask("report", {})) as RobotReport,
    cut(wanted) {
      isCut = wanted;
      if (isCut) for (const socket of sockets) socket.destroy();
    },
    async [Symbol.asyncDispose]() {
      process.off("exit", end);
      for (const socket of sockets) socket.destroy();
      server.close();
      end();
      await once(board, "exit");
      home[Symbol.dispose]();
    },
  };
}

function eachLine(stream: NodeJS.ReadableStream, take: (line: string) => void): void {
  let rest = "";
  stream.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    for (const line of lines) take(line);
  });
}

/** A line that was cut off is nobody's. */
function parsed(line: string): { readonly id?: string; readonly result?: unknown } {
  try {
    return JSON.parse(line) as { readonly id?: string; readonly result?: unknown };
  } catch {
    return {};
  }
}
