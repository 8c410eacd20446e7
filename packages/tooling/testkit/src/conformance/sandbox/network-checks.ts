/** The network: closed when it is off, whatever is tried, as a listener on loopback sees it; open when it is on. */
import { createSocket } from "node:dgram";
import { chmodSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import type { Check } from "../../check.ts";
import { type Attack, attackCheck } from "./attack.ts";
import type { SandboxBench } from "./subject.ts";
import type { World } from "./world.ts";

export function networkChecks(bench: SandboxBench): Check[] {
  const attack = (name: string, what: Attack<Listener>): Check =>
    attackCheck(bench, name, { gotThrough: ({ scene }) => scene.wasReached(), ...what });
  const linux = process.platform === "linux";
  const tcp: Attack<Listener> = {
    script: `socket(S, 2, 1, 0) and connect(S, inet4($ARGV[0])) and syswrite(S, "x") and sysread(S, my $b, 1)`,
    scene: () => tcpListener(),
    args: (_world, { address }) => [address],
  };
  const udp: Attack<Listener> = {
    script: `socket(S, 2, 2, 0) and connect(S, inet4($ARGV[0])) and syswrite(S, "x") and sysread(S, my $b, 1)`,
    scene: () => udpListener(),
    args: (_world, { address }) => [address],
  };
  const local: Attack<Listener> = {
    script: `socket(S, 1, 1, 0) and connect(S, local_path($ARGV[0])) and syswrite(S, "x") and sysread(S, my $b, 1)`,
    scene: ({ outside }) => localListener(join(outside, "sock")),
    args: (_world, { address }) => [address],
  };
  return [
    attack("off: no TCP", tcp),
    attack("off: no UDP", udp),
    attack("off: no question to a name server", {
      ...udp,
      // RFC 1035: a question for the address of "a.test".
      script: `socket(S, 2, 2, 17) and connect(S, inet4($ARGV[0]))
        and syswrite(S, pack("n6", 7, 0x100, 1, 0, 0, 0) . "\\1a\\4test\\0" . pack("n2", 1, 1)) and sysread(S, my $b, 512)`,
    }),
    attack("off: no local socket by its path", local),
    attack("off: no local socket of $SVC_HOME, as the control socket is", {
      ...local,
      scene: ({ home }) => localListener(join(home, "sock")),
    }),
    ...(linux
      ? [
          attack("off: no abstract local socket", {
            script: `socket(S, 1, 1, 0) and connect(S, pack("S x a*", 1, $ARGV[0])) and syswrite(S, "x") and sysread(S, my $b, 1)`,
            scene: (world: World) => abstractListener(`svc-${world.secret}`),
            args: (_world: World, { address }: Listener) => [address],
          }),
        ]
      : []),
    attack("on: TCP arrives", { ...tcp, asked: { network: true }, allowed: true }),
    attack("on: UDP arrives", { ...udp, asked: { network: true }, allowed: true }),
    attack("on: still no local socket of $SVC_HOME", {
      ...local,
      asked: { network: true },
      scene: ({ home }) => localListener(join(home, "sock")),
    }),
  ];
}

interface Listener extends AsyncDisposable {
  readonly address: string;
  wasReached(): boolean;
}

const ended = (close: (done: () => void) => void) => () => new Promise<void>((resolve) => close(() => resolve()));

function listening(at: string | { port: number; host: string }): Promise<Listener> {
  let reached = false;
  const server = createServer((socket) => {
    reached = true;
    socket
      .on("error", () => undefined)
      .resume()
      .end("y");
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject).listen(at as never, () => {
      const address = server.address();
      resolve({
        address: typeof address === "string" ? address : String(address!.port),
        wasReached: () => reached,
        [Symbol.asyncDispose]: ended((done) => server.close(done)),
      });
    });
  });
}

const tcpListener = (): Promise<Listener> => listening({ port: 0, host: "127.0.0.1" });

async function localListener(path: string): Promise<Listener> {
  const listener = await listening(path);
  chmodSync(path, 0o777);
  return listener;
}

async function abstractListener(name: string): Promise<Listener> {
  return { ...(await listening(`\0${name}`)), address: name };
}

function udpListener(): Promise<Listener> {
  let reached = false;
  const socket = createSocket("udp4");
  socket.on("message", (_text, { port, address }) => {
    reached = true;
    socket.send("y", port, address);
  });
  return new Promise((resolve) => {
    socket.bind(0, "127.0.0.1", () =>
      resolve({
        address: String(socket.address().port),
        wasReached: () => reached,
        [Symbol.asyncDispose]: ended((done) => socket.close(done)),
      }),
    );
  });
}
