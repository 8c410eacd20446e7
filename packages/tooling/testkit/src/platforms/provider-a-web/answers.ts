/** What the platform answers to the linked device. Throws for what the protocol does not have. */
import { randomBytes } from "node:crypto";
import { type BinaryNode, Curve, getBinaryNodeChild, getBinaryNodeChildren, type proto, S_WHATSAPP_NET } from "baileys";
import type { FakePlatform } from "../base.ts";
import { bundles, groupOf, takePreKeys, userOf, usync } from "./keys.ts";
import { framed } from "./noise.ts";
import type { createPairing } from "./pairing.ts";
import type { Phone } from "./phone.ts";
import { type Connection, GROUP, OWNER, PERSON, type PlatformState, STRANGER } from "./platform.ts";
import type { createScreens } from "./screens.ts";

export interface AnswersDeps {
  readonly phones: ReadonlyMap<string, Phone>;
  readonly owner: Phone;
  readonly state: PlatformState;
  readonly connections: ReadonlySet<Connection>;
  readonly deviceJid: () => string;
  readonly pairing: ReturnType<typeof createPairing>;
  readonly screens: ReturnType<typeof createScreens>;
  readonly platform: () => FakePlatform;
  readonly told: (request: object) => void;
  readonly now: () => string;
}

export function createAnswers(deps: AnswersDeps) {
  const { phones, owner, state, connections, deviceJid, pairing, screens, told, now } = deps;
  const reads: { id: string; to: string }[] = [];
  const typing: string[] = [];

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
    // Asked while it was being logged out.
    if (connection.isReady && device === undefined) return;
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
      connection.isActive = true;
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
      const host = { tag: "host", attrs: { hostname: new URL(deps.platform().url).host } };
      return connection.send(
        result(node, [{ tag: "media_conn", attrs: { auth: "AUTH", ttl: "300" }, content: [host] }]),
      );
    }
    if (xmlns === "w:g2" && node.attrs["to"] === GROUP) {
      const members = [owner, phones.get(PERSON)!, phones.get(STRANGER)!];
      return connection.send(result(node, [groupOf(GROUP, owner, members)]));
    }
    throw new Error(`a query that the protocol does not have: ${xmlns} ${type} ${child?.tag}`);
  }

  function pinged(connection: Connection, node: BinaryNode): void {
    const mood = typeof deps.platform().mood === "function" ? "takes" : deps.platform().mood;
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
    state.held?.arrived.resolve();
    await state.held?.released.promise;
    const mood = typeof deps.platform().mood === "function" ? "takes" : deps.platform().mood;
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

  return { reads, typing, hello, handle };
}
