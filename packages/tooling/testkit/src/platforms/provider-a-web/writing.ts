/** People who write on their phones: encrypted for the linked device, and kept until it confirms. */
import { randomBytes } from "node:crypto";
import type { BinaryNode } from "baileys";
import type { Phone } from "./phone.ts";
import { type Connection, GROUP, OWNER, type PlatformState, type WebPlatform } from "./platform.ts";

export interface WritingDeps {
  readonly phones: ReadonlyMap<string, Phone>;
  readonly owner: Phone;
  readonly state: PlatformState;
  readonly connections: ReadonlySet<Connection>;
  readonly deviceJid: () => string;
}

export function createWriting({
  phones,
  owner,
  state,
  connections,
  deviceJid,
}: WritingDeps): Pick<WebPlatform, "write" | "writeOwn"> {
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
    for (const connection of connections) if (connection.isActive) connection.send(node);
  }

  return {
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
  };
}
