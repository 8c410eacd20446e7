/** A GDB server on loopback with a chip behind it, that does what a test says, right or wrong. */
import { type AddressInfo, createServer, type Socket } from "node:net";

export interface GdbServer extends AsyncDisposable {
  /** As `hardware.gdb_server` has it. */
  readonly address: string;
  /** Commands that came, without `+` and `-`. */
  readonly commands: string[];
  /** Sessions that are open. */
  readonly open: Set<Socket>;
}

export interface ServerOptions {
  /** Default: a free one. */
  readonly port?: number;
  /** Bytes by address. Other addresses answer E14. */
  readonly memory?: ReadonlyMap<number, Uint8Array>;
  readonly packetSize?: number;
  /** What is written in answer to a command; undefined: what the memory says. */
  readonly answer?: (command: string, socket: Socket) => string | Buffer | undefined;
}

export const packet = (text: string): string => {
  const sum = Buffer.from(text, "latin1").reduce((total, byte) => (total + byte) & 0xff, 0);
  return `$${text}#${sum.toString(16).padStart(2, "0")}`;
};

export async function startGdbServer({
  port = 0,
  memory = new Map(),
  packetSize = 0x1000,
  answer,
}: ServerOptions = {}): Promise<GdbServer> {
  const commands: string[] = [];
  const open = new Set<Socket>();
  const read = (address: number, length: number): string => {
    for (const [start, bytes] of memory) {
      const at = address - start;
      if (at >= 0 && at + length <= bytes.length) return Buffer.from(bytes.subarray(at, at + length)).toString("hex");
    }
    return "E14";
  };
  const usual = (command: string): string => {
    if (command.startsWith("qSupported")) return packet(`PacketSize=${packetSize.toString(16)};qXfer:features:read+`);
    const [, address, length] = /^m([\da-f]+),([\da-f]+)$/.exec(command) ?? [];
    if (address !== undefined) return packet(read(Number.parseInt(address, 16), Number.parseInt(length!, 16)));
    return packet(command.startsWith("D") ? "OK" : "");
  };
  const server = createServer((socket) => {
    open.add(socket);
    let held = "";
    socket.on("close", () => open.delete(socket)).on("error", () => undefined);
    socket.setEncoding("latin1").on("data", (text: string) => {
      held += text;
      for (;;) {
        const found = /^[+-]*\$([^#]*)#[\da-f]{2}/.exec(held);
        if (!found) return;
        held = held.slice(found[0].length);
        commands.push(found[1]!);
        socket.write("+");
        socket.write(answer?.(found[1]!, socket) ?? usual(found[1]!));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    commands,
    open,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A Nucleo-F401RE as it answers: ids, 512 KiB of flash and 96 KiB of RAM with a pattern. */
export function nucleoMemory({ deviceId = 0x433, revision = 0x1001, flashKib = 512 } = {}): Map<number, Uint8Array> {
  const word = Buffer.alloc(4);
  word.writeUInt32LE(((revision << 16) | deviceId) >>> 0);
  const half = Buffer.alloc(2);
  half.writeUInt16LE(flashKib);
  return new Map<number, Uint8Array>([
    [0xe004_2000, word],
    [0x1fff_7a22, half],
    [0x0800_0000, Buffer.alloc(512 * 1024, 0xff)],
    [0x2000_0000, Buffer.from(Array.from({ length: 96 * 1024 }, (_one, at) => (at * 7) & 0xff))],
  ]);
}
