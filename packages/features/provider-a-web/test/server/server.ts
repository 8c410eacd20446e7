/**
 * The platform on loopback: the handshake, the binary nodes, devices with their keys, and messages that stay until their receipt. It
 * takes only what the protocol has; anything else is in `violations`, and ends the connection. The real library is what proves it.
 */
import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import {
  type BinaryNode,
  Curve,
  decodeBinaryNode,
  encodeBinaryNode,
  getBinaryNodeChild,
  getBinaryNodeChildren,
  proto,
  S_WHATSAPP_NET,
} from "baileys";
import { type FakePlatform, startPlatform } from "@svc/testkit/platforms/base";
import { WebSocketServer, type WebSocket } from "ws";
import { createPairing, type Registering } from "./pairing.ts";
import { createScreens, type Seen } from "./screens.ts";
import { framed, noiseServer, type NoiseServer, serverKeys } from "./noise.ts";
import { createPhone, type Phone } from "./phone.ts";
import { bundles, type LinkedDevice, takePreKeys, userOf, usync } from "./keys.ts";

export const OWNER = "+4915110000001";
export const PERSON = "+4915110000002";
export const STRANGER = "+4915110000003";
export const GROUP = "120363000000000001@g.us";

export interface WebPlatform extends FakePlatform {
  readonly rootKey: string;
  /** What people see, each message once. */
  readonly seen: readonly Seen[];
  readonly sent: readonly { readonly text: string }[];
  /** Messages that came again with an id that was seen. */
  readonly repeated: number;
  /** What a session could not read: a broken chat. */
  readonly broken: readonly string[];
  readonly violations: readonly string[];
  readonly retries: number;
  readonly reads: readonly { readonly id: string; readonly to: string }[];
  readonly typing: readonly string[];
  readonly files: Map<string, Uint8Array>;
  readonly isLinked: boolean;
  readonly isConnected: boolean;
  /** Secret halves of the linked device, which the platform does not know; public ones stand for them where it was linked by a code. */
  readonly deviceKeys: readonly Buffer[];
  readonly logins: number;
  person(number: string): Phone;
  /** The owner scans the code of an account that is being linked. */
  scan(code: string): void;
  /** The owner types the code. */
  type(code: string): Promise<void>;
  write(message: {
    from: string;
    text?: string;
    id?: string;
    atMs?: number;
    group?: boolean;
    content?: proto.IMessage;
  }): Promise<string>;
  /** The owner writes to somebody on the phone, or to themselves. */
  writeOwn(message: { text: string; id?: string; to?: string; atMs?: number }): Promise<void>;
  /** Ends every connection. */
  disconnect(): void;
  logOut(): void;
  /** Ends it with a stream error, as `conflict` or `failure`. */
  fail(node: BinaryNode): void;
  /** A device that is linked already, without a code. */
  adopt(): Promise<Record<string, unknown>>;
  /** What `adopt` resolved with last. */
  readonly adopted: Record<string, unknown> | undefined;
}

interface Connection extends Registering {
  readonly ws: WebSocket;
  isReady: boolean;
}

export async function startWebPlatform(): Promise<WebPlatform> {
  const keys = serverKeys();
  const phones = new Map([
    [OWNER, createPhone(OWNER, "90000000000001", "Owner")],
    [PERSON, createPhone(PERSON, "90000000000002", "Ada")],
    [STRANGER, createPhone(STRANGER, "90000000000003", "Eve")],
  ]);
  const owner = phones.get(OWNER)!;
  const violations: string[] = [];
  const reads: { id: string; to: string }[] = [];
  const typing: string[] = [];
  const files = new Map<string, Uint8Array>();
  const connections = new Set<Connection>();
  const state = {
    device: undefined as LinkedDevice | undefined,
    adopted: undefined as Record<string, unknown> | undefined,
    nextDevice: 11,
    repeated: 0,
    retries: 0,
    messages: 0,
    logins: 0,
  };

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
      onHello: (payload, noiseKey) => hello(connection, payload, noiseKey),
      onFrame: (plain) => {
        work = work
          .then(async () => handle(connection, await decodeBinaryNode(plain)))
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

  function hello(connection: Connection, payload: proto.ClientPayload, noiseKey: Buffer): void {
    const { devicePairingData: pairing } = payload;
    if (pairing) {
      const { eIdent, eSkeyVal, eSkeySig, eRegid } = pairing;
      const isSound = eIdent && eSkeyVal && eSkeySig && eRegid?.byteLength === 4;
      if (!isSound || !Curve.verify(eIdent, Buffer.concat([Buffer.from([5]), eSkeyVal]), eSkeySig)) {
        throw new Error("the registration's keys are not signed");
      }
      connection.registration = { noiseKey, payload };
      const refs = Array.from({ length: 6 }, () => randomBytes(16).toString("base64url"));
      connection.send({
        tag: "iq",
        attrs: { from: S_WHATSAPP_NET, type: "set", id: "pair-1", xmlns: "md" },
        content: [
          {
            tag: "pair-device",
            attrs: {},
            content: refs.map((ref) => ({ tag: "ref", attrs: {}, content: Buffer.from(ref) })),
          },
        ],
      });
      return;
    }
    const { device } = state;
    const isKnown =
      device !== undefined &&
      String(payload.username) === OWNER.slice(1) &&
      payload.device === device.id &&
      noiseKey.equals(device.noiseKey);
    if (!isKnown) return connection.send({ tag: "failure", attrs: { reason: "401", location: "x" } });
    for (const other of connections) {
      if (other === connection || !other.isReady) continue;
      other.send({ tag: "stream:error", attrs: {}, content: [{ tag: "conflict", attrs: { type: "replaced" } }] });
      other.ws.close();
    }
    state.logins += 1;
    connection.isReady = true;
    connection.send({
      tag: "success",
      attrs: { t: now(), lid: owner.lid.replace("@", `:${device.id}@`), location: "x" },
    });
  }

  const result = (node: BinaryNode, content?: BinaryNode[]): BinaryNode => ({
    tag: "iq",
    attrs: { from: S_WHATSAPP_NET, type: "result", id: node.attrs["id"]! },
    ...(content && { content }),
  });

  async function handle(connection: Connection, node: BinaryNode): Promise<void> {
    if (node.tag === "message" || node.attrs["xmlns"] === "w:p") told({ path: node.tag });
    switch (node.tag) {
      case "iq":
        return await query(connection, node);
      case "receipt":
        return receipt(connection, node);
      case "ack":
        return confirmed(node.attrs["id"]!, node.attrs["class"]!);
      case "message":
        return await fromDevice(connection, node);
      case "chatstate":
        return void typing.push(node.attrs["to"]!);
      case "presence":
      case "ib":
        return;
      default:
        throw new Error(`a node that the protocol does not have: ${node.tag}`);
    }
  }

  async function query(connection: Connection, node: BinaryNode): Promise<void> {
    const { xmlns, type } = node.attrs;
    const [child] = Array.isArray(node.content) ? node.content : [];
    const { device } = state;
    if (type === "result") return pairing.paired(connection, node);
    if (xmlns === "md")
      return await pairing.companion(connection, child, (content) => connection.send(result(node, content)));
    if (!connection.isReady || device === undefined) throw new Error(`a query before the login: ${xmlns}`);
    if (xmlns === "encrypt" && type === "get" && child?.tag === "count") {
      return connection.send(result(node, [{ tag: "count", attrs: { value: String(device.preKeys.size) } }]));
    }
    if (xmlns === "encrypt" && type === "get" && child?.tag === "digest") {
      return connection.send(result(node, [{ tag: "digest", attrs: {} }]));
    }
    if (xmlns === "encrypt" && type === "set") {
      takePreKeys(node, device);
      return connection.send(result(node));
    }
    if (xmlns === "encrypt" && type === "get" && child?.tag === "key") {
      return connection.send(result(node, [{ tag: "list", attrs: {}, content: await bundles(child, keyOwnerOf) }]));
    }
    if (xmlns === "passive") {
      connection.send(result(node));
      for (const waiting of device.queue) connection.send({ ...waiting, attrs: { ...waiting.attrs, offline: "0" } });
      const count = String(device.queue.length);
      return connection.send({ tag: "ib", attrs: {}, content: [{ tag: "offline", attrs: { count } }] });
    }
    if (xmlns === "w:p") return pinged(connection, node);
    if (xmlns === "usync")
      return connection.send(
        result(node, [usync(child!, phones.values(), (phone) => (phone === owner && device ? [0, device.id] : [0]))]),
      );
    if (xmlns === "privacy" && type === "get") {
      const category = { tag: "category", attrs: { name: "readreceipts", value: "all" } };
      return connection.send(result(node, [{ tag: "privacy", attrs: {}, content: [category] }]));
    }
    if (xmlns === "privacy") return connection.send(result(node));
    if (xmlns === "w:m") {
      const host = { tag: "host", attrs: { hostname: new URL(platform.url).host } };
      return connection.send(
        result(node, [{ tag: "media_conn", attrs: { auth: "AUTH", ttl: "300" }, content: [host] }]),
      );
    }
    if (xmlns === "w:g2" && node.attrs["to"] === GROUP) {
      const members = [owner, phones.get(PERSON)!, phones.get(STRANGER)!].map(({ lid, jid }) => ({
        tag: "participant",
        attrs: { jid: lid, phone_number: jid },
      }));
      const attrs = {
        id: GROUP,
        addressing_mode: "lid",
        subject: "Group",
        s_t: "1",
        creation: "1",
        creator: owner.lid,
      };
      return connection.send(result(node, [{ tag: "group", attrs, content: members }]));
    }
    throw new Error(`a query that the protocol does not have: ${xmlns} ${type} ${child?.tag}`);
  }

  function pinged(connection: Connection, node: BinaryNode): void {
    const mood = typeof platform.mood === "function" ? "takes" : platform.mood;
    if (mood === "hangs") return;
    if (mood === "resets") return connection.ws.terminate();
    if (typeof mood !== "object" || !("refuses" in mood)) return connection.send(result(node));
    const error = { tag: "error", attrs: { code: String(mood.refuses), text: "refused" } };
    connection.send({ ...result(node, [error]), attrs: { ...result(node).attrs, type: "error" } });
  }

  function phoneOf(jid: string): Phone {
    const user = userOf(jid);
    const phone = [...phones.values()].find((one) => userOf(one.jid) === user || userOf(one.lid) === user);
    if (!phone || /:\d+@/.test(jid)) throw new Error(`there is no such device: ${jid}`);
    return phone;
  }

  /** The linked device asks for its own keys, too. */
  function keyOwnerOf(jid: string): Pick<Phone, "bundle"> {
    const { device } = state;
    if (!device || jid !== deviceJid()) return phoneOf(jid);
    const [first] = device.preKeys;
    return { bundle: async () => ({ ...device.bundle, ...(first && { preKey: { id: first[0], key: first[1] } }) }) };
  }

  function receipt(connection: Connection, node: BinaryNode): void {
    const { id = "", to = "", type } = node.attrs;
    if (type === "retry") state.retries += 1;
    else if (type === "read") reads.push({ id, to });
    else confirmed(id, "message");
    for (const item of getBinaryNodeChildren(getBinaryNodeChild(node, "list"), "item"))
      confirmed(item.attrs["id"]!, "message");
    connection.send({ tag: "ack", attrs: { class: "receipt", id, from: to, ...(type !== undefined && { type }) } });
  }

  function confirmed(id: string, kind: string): void {
    const { device } = state;
    const at = device?.queue.findIndex(({ tag, attrs }) => tag === kind && attrs["id"] === id) ?? -1;
    if (at >= 0) device!.queue.splice(at, 1);
  }

  async function fromDevice(connection: Connection, node: BinaryNode): Promise<void> {
    const mood = typeof platform.mood === "function" ? "takes" : platform.mood;
    const { id = "", to = "" } = node.attrs;
    const answer = (more: Record<string, string>): void =>
      connection.send({ tag: "ack", attrs: { class: "message", id, from: to, t: now(), ...more } });
    if (mood === "hangs") return;
    if (mood === "resets") return connection.ws.terminate();
    if (typeof mood === "object" && "refuses" in mood) return answer({ error: String(mood.refuses) });
    if (typeof mood === "object" && "rateLimits" in mood)
      return answer({ error: "429", backoff: String(mood.rateLimits) });
    if (typeof mood === "object" && "babbles" in mood)
      return connection.ws.send(framed(Buffer.from(`?${mood.babbles}`)));
    const groupKey = Array.isArray(node.content)
      ? node.content.find(({ tag, attrs }) => tag === "enc" && attrs["type"] === "skmsg")
      : undefined;
    const participants = getBinaryNodeChildren(getBinaryNodeChild(node, "participants"), "to");
    for (const {
      attrs: { jid = "" },
      content,
    } of participants) {
      const [enc] = content as BinaryNode[];
      if (jid !== deviceJid()) await screens.readOne(phoneOf(jid), enc!, node);
    }
    if (groupKey) {
      for (const phone of phones.values()) await screens.readGroup(phone, groupKey.content as Uint8Array, node);
    } else if (participants.length === 0) throw new Error("a message for nobody");
    if (mood === "loses answers") return connection.ws.terminate();
    answer({});
  }

  /** Makes sure of a session with the linked device, as a phone does: from its keys on the platform. */
  async function sessionOf(phone: Phone): Promise<string> {
    const { device } = state;
    if (!device) throw new Error("no device is linked");
    const jid = deviceJid();
    if (await phone.hasSession(jid)) return jid;
    const [first] = device.preKeys;
    if (first) device.preKeys.delete(first[0]);
    await phone.begin(jid, { ...device.bundle, ...(first && { preKey: { id: first[0], key: first[1] } }) });
    return jid;
  }

  async function deliver(node: BinaryNode): Promise<void> {
    state.device?.queue.push(node);
    for (const connection of connections) if (connection.isReady) connection.send(node);
  }

  const wire: WebPlatform = Object.assign(platform, {
    rootKey: Buffer.from(keys.root.public).toString("hex"),
    seen: screens.seen,
    broken: screens.broken,
    violations,
    reads,
    typing,
    files,
    sent: [] as { text: string }[],
    repeated: 0,
    retries: 0,
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
    async write({ from, text = "", id, atMs, group, content }: Parameters<WebPlatform["write"]>[0]) {
      const phone = phones.get(from)!;
      const messageId = id ?? `3A${randomBytes(9).toString("hex").toUpperCase()}`;
      const jid = await sessionOf(phone);
      const message = content ?? { conversation: text };
      const common = {
        id: messageId,
        type: "text",
        t: String(Math.floor((atMs ?? Date.now()) / 1000)),
        notify: phone.name,
      };
      if (group !== true) {
        const { type, ciphertext } = await phone.encrypt(jid, message);
        const attrs = { ...common, from: phone.lid, sender_pn: phone.jid, addressing_mode: "lid" };
        await deliver({
          tag: "message",
          attrs,
          content: [{ tag: "enc", attrs: { v: "2", type }, content: ciphertext }],
        });
        return messageId;
      }
      const { encodeWAMessage } = await import("baileys");
      const { ciphertext, senderKeyDistributionMessage } = await phone.repository.encryptGroupMessage({
        group: GROUP,
        meId: phone.lid,
        data: encodeWAMessage(message),
      });
      const keyMessage = { groupId: GROUP, axolotlSenderKeyDistributionMessage: senderKeyDistributionMessage };
      const key = await phone.encrypt(jid, { senderKeyDistributionMessage: keyMessage });
      const attrs = {
        ...common,
        from: GROUP,
        participant: phone.lid,
        participant_pn: phone.jid,
        addressing_mode: "lid",
      };
      await deliver({
        tag: "message",
        attrs,
        content: [
          { tag: "enc", attrs: { v: "2", type: key.type }, content: key.ciphertext },
          { tag: "enc", attrs: { v: "2", type: "skmsg" }, content: ciphertext },
        ],
      });
      return messageId;
    },
    async writeOwn({ text, id, to = OWNER, atMs }: Parameters<WebPlatform["writeOwn"]>[0]) {
      const jid = await sessionOf(owner);
      const recipient = phones.get(to)!.jid;
      const { type, ciphertext } = await owner.encrypt(jid, {
        deviceSentMessage: { destinationJid: recipient, message: { conversation: text } },
      });
      const t = String(Math.floor((atMs ?? Date.now()) / 1000));
      const attrs = { id: id ?? randomBytes(8).toString("hex"), from: owner.jid, recipient, type: "text", t };
      await deliver({ tag: "message", attrs, content: [{ tag: "enc", attrs: { v: "2", type }, content: ciphertext }] });
    },
    scan: pairing.scan,
    type: pairing.type,
    adopt: async () => (state.adopted = await pairing.adopt()),
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
    isLinked: { get: () => state.device !== undefined },
    isConnected: { get: () => [...connections].some(({ isReady }) => isReady) },
    deviceKeys: { get: () => (state.device ? [state.device.noiseKey, Buffer.from(state.device.bundle.identity)] : []) },
    logins: { get: () => state.logins },
  });
  return wire;
}
