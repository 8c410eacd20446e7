/** A board that speaks JSON lines, behind a bridge on loopback: what its pins are, what it was told, and how it misbehaves. */
import { once } from "node:events";
import { createServer, type Socket } from "node:net";

export interface JsonBoard extends AsyncDisposable {
  /** `tcp://127.0.0.1:…` */
  readonly path: string;
  readonly pins: Map<number, number>;
  /** What its analog inputs say, by pin. */
  readonly analog: Map<number, number>;
  /** Commands in order, as they came. */
  readonly commands: readonly string[];
  /** How it answers what comes from now on. Default: `sound`. */
  mood: JsonBoardMood;
  /** What `distance_read` answers. */
  distance: number | string | null;
  /** Ends all connections. */
  drop(): void;
}

export type JsonBoardMood =
  | "sound"
  /** Acts, and never answers. */
  | "silent"
  /** Acts, and ends the connection. */
  | "unplugged"
  /** Bytes that are no text, and lines that are no answers, before each answer. */
  | "noisy"
  /** Answers byte by byte. */
  | "slow"
  /** 1 MB without a newline. */
  | "endless"
  /** What is no JSON, only. */
  | "garbage"
  /** An answer to another command, before its own. */
  | "confused";

export interface JsonBoardOptions {
  /** Default: with ids. */
  readonly form?: "with ids" | "without ids";
}

interface Command {
  readonly id?: string;
  readonly cmd: string;
  readonly args?: Values;
  readonly params?: Values;
}

interface Values {
  readonly pin?: number;
  readonly value?: number;
  readonly mode?: string;
}

const LAST_PIN = 29;

export async function startJsonBoard({ form = "with ids" }: JsonBoardOptions = {}): Promise<JsonBoard> {
  const pins = new Map<number, number>();
  const analog = new Map<number, number>();
  const commands: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
    let rest = "";
    socket.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      for (const line of lines) void take(socket, line);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as { port: number };

  async function take(socket: Socket, line: string): Promise<void> {
    if (Buffer.byteLength(line) > 255) return void socket.write('{"ok":false,"error":"line too long"}\n');
    const { id, cmd, args, params } = JSON.parse(line) as Command;
    const isGreeting = cmd === "ping";
    if (!isGreeting) commands.push(line);
    const result = act(cmd, args ?? params ?? {});
    const answer = JSON.stringify(form === "with ids" ? { id, ...result } : withData(result));
    const mood = isGreeting && board.mood !== "garbage" && board.mood !== "endless" ? "sound" : board.mood;
    await ANSWERS[mood](socket, `${answer}\n`);
  }

  function act(cmd: string, { pin = -1, value = 0, mode }: Values): object {
    if (cmd === "ping") return { ok: true, result: "pong" };
    if (cmd === "capabilities") return { ok: true, result: { gpio: [0, LAST_PIN] } };
    if (cmd === "motor_set" || cmd === "motor_stop") return { ok: true, result: "done" };
    if (cmd === "distance_read") return { ok: true, result: board.distance };
    if (cmd !== "gpio_read" && cmd !== "gpio_write") return { ok: false, error: "unknown command" };
    if (pin < 0 || pin > LAST_PIN) return { ok: false, error: "pin not available" };
    if (mode === "analog") return { ok: true, result: { pin, value: analog.get(pin) ?? 0 } };
    if (cmd === "gpio_write") pins.set(pin, value);
    const level = pins.get(pin) ?? 0;
    return { ok: true, result: { pin, value: level, state: level === 1 ? "HIGH" : "LOW" } };
  }

  const board: JsonBoard = {
    path: `tcp://127.0.0.1:${port}`,
    pins,
    analog,
    commands,
    mood: "sound",
    distance: 1234,
    drop() {
      for (const socket of sockets) socket.destroy();
    },
    async [Symbol.asyncDispose]() {
      board.drop();
      server.close();
      await once(server, "close");
    },
  };
  return board;
}

const withData = (answer: object): object =>
  Object.fromEntries(
    Object.entries(answer).map(([name, value]) => [name === "result" ? "data" : name, value as unknown]),
  );

const ANSWERS: Readonly<Record<JsonBoardMood, (socket: Socket, answer: string) => Promise<void> | void>> = {
  sound: (socket, answer) => void socket.write(answer),
  silent: () => {},
  unplugged: (socket) => void socket.destroy(),
  noisy: (socket, answer) =>
    void socket.write(Buffer.concat([Buffer.of(0xff, 0, 0x1b, 0x0a), Buffer.from(`boot\n[1,2]\n{"ok":1}\n${answer}`)])),
  async slow(socket, answer) {
    for (const byte of Buffer.from(answer)) {
      socket.write(Buffer.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
  },
  endless: (socket) => void socket.write("x".repeat(1_000_000)),
  garbage: (socket) => void socket.write("???\n{}\n\n\x00\n"),
  confused: (socket, answer) => void socket.write(`{"id":"svc-none","ok":true,"result":{"value":9}}\n${answer}`),
};
