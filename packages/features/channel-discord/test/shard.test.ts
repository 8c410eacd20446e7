// What the library keeps to itself must not end the process: connections that it has given up, and promises of no one's.
import { Encoding, type IContextFetchingStrategy, WebSocketShard } from "@discordjs/ws";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { expect, test } from "vitest";
import { shardOf } from "../src/gateway.ts";

/** Milliseconds by the library's own clock; the handshake's is over after the one that gives the connection up. */
const TIMES = { helloTimeout: 20, handshakeTimeout: 60 };

function strategyTo(port: number): IContextFetchingStrategy {
  const options = { version: "10", encoding: Encoding.JSON, compression: null, shardCount: 1, ...TIMES };
  return {
    options: { ...options, gatewayInformation: { url: `ws://127.0.0.1:${port}` } },
    retrieveSessionInfo: () => null,
    updateSessionInfo: () => undefined,
    waitForIdentify: () => Promise.resolve(),
  } as unknown as IContextFetchingStrategy;
}

test("the private members are there, in this version", () => {
  const shard = new WebSocketShard(strategyTo(1), 0);
  expect(shard).toMatchObject({ connection: null });
  for (const name of ["onMessage", "internalConnect"]) expect(shard).toHaveProperty(name, expect.any(Function));
});

test("a platform that takes the connection and never answers: it is ended, and tried again", async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket.on("error", () => undefined).resume()));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { shard, end } = shardOf(strategyTo((server.address() as AddressInfo).port), () => undefined);
  shard.connect().catch(() => undefined);
  try {
    await once(server, "connection");
    const [first] = sockets;
    // The next one comes when the first was given up; no one but us may hear what becomes of that.
    await Promise.all([once(first!, "close"), once(server, "connection")]);
    expect(sockets).toHaveLength(2);
  } finally {
    end();
    server.close();
    for (const socket of sockets) socket.destroy();
  }
});
