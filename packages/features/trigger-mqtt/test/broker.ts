/** A broker on loopback that does what a test says, right or wrong. Its packets are made and read by `mqtt-packet`. */
import { generate, type IConnackPacket, type Packet, parser, type IPublishPacket } from "mqtt-packet";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";

export interface Peer {
  /** The next packet of the client of this kind. Rejects when the connection ends before. */
  next<Kind extends Packet["cmd"]>(cmd: Kind): Promise<Extract<Packet, { cmd: Kind }>>;
  /** Packets of this kind so far. */
  count(cmd: Packet["cmd"]): number;
  send(packet: Packet): void;
  raw(bytes: Uint8Array): Promise<void>;
  publish(message: Partial<IPublishPacket>): void;
  /** CONNACK and, when it is asked for, SUBACK. */
  welcome(options?: { readonly session?: boolean }): Promise<void>;
  close(): void;
  readonly closed: Promise<void>;
}

export interface Broker extends AsyncDisposable {
  readonly url: string;
  /** The next connection. */
  peer(): Promise<Peer>;
}

export async function startBroker(): Promise<Broker> {
  const peers: Peer[] = [];
  const waiting: ((peer: Peer) => void)[] = [];
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    const peer = peerOf(socket);
    const taker = waiting.shift();
    if (taker) taker(peer);
    else peers.push(peer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`,
    peer: () => {
      const peer = peers.shift();
      return peer ? Promise.resolve(peer) : new Promise((resolve) => waiting.push(resolve));
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function peerOf(socket: Socket): Peer {
  const unread: Packet[] = [];
  const counts = new Map<string, number>();
  const takers: { cmd: string; take: (packet: Packet) => void }[] = [];
  const reader = parser();
  reader.on("packet", (packet) => {
    counts.set(packet.cmd, (counts.get(packet.cmd) ?? 0) + 1);
    const index = takers.findIndex(({ cmd }) => cmd === packet.cmd);
    if (index >= 0) takers.splice(index, 1)[0]!.take(packet);
    else unread.push(packet);
  });
  socket.on("data", (bytes: Buffer) => reader.parse(bytes)).on("error", () => undefined);
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  const send = (packet: Packet): void => void socket.write(generate(packet));
  const next: Peer["next"] = async (cmd) => {
    const index = unread.findIndex((packet) => packet.cmd === cmd);
    if (index >= 0) return unread.splice(index, 1)[0] as never;
    const packet = new Promise<Packet>((take) => takers.push({ cmd, take }));
    const end = closed.then(() => {
      throw new Error(`the client left before it sent ${cmd}`);
    });
    return (await Promise.race([packet, end])) as never;
  };
  return {
    next,
    count: (cmd) => counts.get(cmd) ?? 0,
    send,
    closed,
    raw: (bytes) => new Promise((resolve) => socket.write(bytes, () => resolve())),
    publish: (message) =>
      send({
        cmd: "publish",
        topic: "home/door",
        payload: "1",
        qos: 1,
        dup: false,
        retain: false,
        messageId: 1,
        ...message,
      }),
    async welcome({ session = false } = {}) {
      await next("connect");
      send({ cmd: "connack", returnCode: 0, sessionPresent: session } as IConnackPacket);
      const { messageId, subscriptions } = await next("subscribe");
      send({ cmd: "suback", messageId: messageId!, granted: subscriptions.map(() => 1) });
    },
    close: () => void socket.destroy(),
  };
}
