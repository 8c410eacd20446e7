/**
 * The platform on loopback: the handshake, the binary nodes, devices with their keys, and messages that stay until their receipt. It
 * takes only what the protocol has; anything else is in `violations`, and ends the connection. The real library is what proves it.
 */
import type { Socket } from "node:net";
import { type BinaryNode, decodeBinaryNode, encodeBinaryNode } from "baileys";
import { WebSocketServer, type WebSocket } from "ws";
import { startPlatform } from "../base.ts";
import { createAnswers } from "./answers.ts";
import { noiseServer, type NoiseServer, serverKeys } from "./noise.ts";
import { createPairing } from "./pairing.ts";
import { createPhone } from "./phone.ts";
import { type Connection, OWNER, PERSON, type PlatformState, STRANGER, type WebPlatform } from "./platform.ts";
import { createScreens } from "./screens.ts";
import { createWriting } from "./writing.ts";

export { GROUP, OWNER, PERSON, STRANGER, type WebPlatform } from "./platform.ts";

export async function startWebPlatform(): Promise<WebPlatform> {
  const keys = serverKeys();
  const phones = new Map([
    [OWNER, createPhone(OWNER, "90000000000001", "Owner")],
    [PERSON, createPhone(PERSON, "90000000000002", "Ada")],
    [STRANGER, createPhone(STRANGER, "90000000000003", "Eve")],
  ]);
  const owner = phones.get(OWNER)!;
  const violations: string[] = [];
  const files = new Map<string, Uint8Array>();
  const connections = new Set<Connection>();
  const state: PlatformState = { device: undefined, adopted: undefined, retries: 0, logins: 0, held: undefined };

  /** What came over a long connection is one of the requests, too. */
  const told = (request: object): void => void (platform.requests as unknown as object[]).push(request);
  const deviceJid = (): string => owner.lid.replace("@", `:${state.device!.id}@`);
  const now = (): string => String(Math.floor(Date.now() / 1000));
  const screens = createScreens({ owner, deviceJid, files, told });
  const pairing = createPairing({
    owner,
    connections: () => connections,
    linked: (device) => void (state.device = device),
    now,
  });
  const writing = createWriting({ phones, owner, state, connections, deviceJid });
  const answers = createAnswers({
    phones,
    owner,
    state,
    connections,
    deviceJid,
    pairing,
    screens,
    platform: () => platform,
    told,
    now,
  });
  const sockets = new WebSocketServer({ noServer: true });
  const platform = await startPlatform(
    ({ method, path, body }) => {
      if (method === "POST" && path.startsWith("/mms/")) {
        const directPath = `/v/t62.7118-24/${path.split("/").at(-1)}`;
        files.set(directPath, body);
        return { json: { url: `${platform.url}${directPath}`, direct_path: directPath } };
      }
      const file = files.get(path);
      return file ? { bytes: file } : { status: 404, json: {} };
    },
    {
      upgrade: (incoming, socket: Socket, head) =>
        sockets.handleUpgrade(incoming, socket, head, (ws) => void connections.add(connectionOf(ws))),
    },
  );

  function connectionOf(ws: WebSocket): Connection {
    let work: Promise<void> = Promise.resolve();
    const noise: NoiseServer = noiseServer(keys, {
      send: (bytes) => ws.send(bytes),
      onHello: (payload, noiseKey) => answers.hello(connection, payload, noiseKey),
      onFrame: (plain) => {
        work = work
          .then(async () => answers.handle(connection, await decodeBinaryNode(plain)))
          .catch((error: unknown) => {
            violations.push(String(error));
            ws.terminate();
          });
      },
    });
    const connection: Connection = {
      ws,
      close: () => ws.close(),
      isReady: false,
      isActive: false,
      registration: undefined,
      send: (node) => {
        if (ws.readyState === ws.OPEN) ws.send(noise.frame(encodeBinaryNode(node)));
      },
    };
    ws.on("message", (data: Buffer) => {
      try {
        noise.take(data);
      } catch (error) {
        violations.push(String(error));
        ws.terminate();
      }
    });
    ws.on("close", () => connections.delete(connection));
    ws.on("error", () => undefined);
    return connection;
  }

  const wire: WebPlatform = Object.assign(platform, {
    rootKey: Buffer.from(keys.root.public).toString("hex"),
    seen: screens.seen,
    broken: screens.broken,
    violations,
    reads: answers.reads,
    typing: answers.typing,
    files,
    sent: [] as { text: string }[],
    repeated: 0,
    retries: 0,
    unconfirmed: 0,
    isLinked: false,
    isConnected: false,
    adopted: undefined,
    deviceKeys: [] as Buffer[],
    logins: 0,
    async arrived(index: number) {
      while (platform.requests.length <= index) await new Promise((resolve) => setTimeout(resolve, 2));
      return platform.requests[index]!;
    },
    person: (number: string) => phones.get(number)!,
    ...writing,
    scan: pairing.scan,
    type: pairing.type,
    adopt: async () => (state.adopted = await pairing.adopt()),
    hold() {
      const [arrived, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      state.held = { arrived, released };
      return { arrived: arrived.promise, release: () => released.resolve() };
    },
    disconnect() {
      for (const { ws } of connections) ws.terminate();
    },
    logOut() {
      state.device = undefined;
      for (const phone of phones.values()) void phone.forget(owner.lid);
      wire.fail({
        tag: "stream:error",
        attrs: { code: "401" },
        content: [{ tag: "conflict", attrs: { type: "device_removed" } }],
      });
    },
    fail(node: BinaryNode) {
      for (const connection of connections) {
        connection.send(node);
        connection.ws.close();
      }
    },
  });
  Object.defineProperties(wire, {
    sent: { get: () => screens.seen.filter(({ by }) => by !== OWNER).map(({ text }) => ({ text })) },
    repeated: { get: () => screens.repeated },
    adopted: { get: () => state.adopted },
    retries: { get: () => state.retries },
    unconfirmed: { get: () => state.device?.queue.filter(({ tag }) => tag === "message").length ?? 0 },
    isLinked: { get: () => state.device !== undefined },
    isConnected: { get: () => [...connections].some(({ isReady }) => isReady) },
    deviceKeys: { get: () => (state.device ? [state.device.noiseKey, Buffer.from(state.device.bundle.identity)] : []) },
    logins: { get: () => state.logins },
  });
  return wire;
}
