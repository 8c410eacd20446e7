/** Keys at the platform: those of the linked device, and those of phones, which any client may request. */
import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren } from "baileys";
import type { Bundle, Phone } from "./phone.ts";

export interface LinkedDevice {
  readonly id: number;
  readonly noiseKey: Buffer;
  readonly bundle: Bundle;
  readonly preKeys: Map<number, Uint8Array>;
  /** Messages and receipts that it has not confirmed, by id. */
  readonly queue: BinaryNode[];
}

/** Throws for what is not the device's, or would change a key that a client may have fetched. */
export function takePreKeys(node: BinaryNode, device: LinkedDevice): void {
  const bytes = (tag: string): Uint8Array => getBinaryNodeChild(node, tag)?.content as Uint8Array;
  if (!Buffer.from(bytes("identity")).equals(device.bundle.identity)) throw new Error("pre-keys of another identity");
  for (const key of getBinaryNodeChildren(getBinaryNodeChild(node, "list"), "key")) {
    const id = Buffer.from(getBinaryNodeChild(key, "id")!.content as Uint8Array).readUIntBE(0, 3);
    const value = getBinaryNodeChild(key, "value")!.content as Uint8Array;
    const other = device.preKeys.get(id);
    if (other && !Buffer.from(other).equals(value)) throw new Error(`another pre-key under the number ${id}`);
    device.preKeys.set(id, value);
  }
}

/** Keys of devices, for those who begin a session with them. */
export async function bundles(
  query: BinaryNode,
  keyOwnerOf: (jid: string) => Pick<Phone, "bundle">,
): Promise<BinaryNode[]> {
  const users = getBinaryNodeChildren(query, "user");
  return await Promise.all(
    users.map(async ({ attrs: { jid = "" } }) => {
      const { registrationId, identity, signedPreKey, preKey } = await keyOwnerOf(jid).bundle();
      const key = (tag: string, { id, key: value }: { id: number; key: Uint8Array }, more: BinaryNode[] = []) => ({
        tag,
        attrs: {},
        content: [
          { tag: "id", attrs: {}, content: bigEndian(id, 3) },
          { tag: "value", attrs: {}, content: value },
          ...more,
        ],
      });
      return {
        tag: "user",
        attrs: { jid },
        content: [
          { tag: "registration", attrs: {}, content: bigEndian(registrationId, 4) },
          { tag: "type", attrs: {}, content: Buffer.from([5]) },
          { tag: "identity", attrs: {}, content: identity },
          key("skey", signedPreKey, [{ tag: "signature", attrs: {}, content: signedPreKey.signature }]),
          key("key", preKey!),
        ],
      };
    }),
  );
}

/** Devices and ids of accounts. */
export function usync(
  query: BinaryNode,
  phones: Iterable<Phone>,
  devicesOf: (phone: Phone) => readonly number[],
): BinaryNode {
  const all = [...phones];
  const asked = getBinaryNodeChild(query, "query");
  const list = getBinaryNodeChildren(getBinaryNodeChild(query, "list"), "user").flatMap(({ attrs: { jid = "" } }) => {
    const phone = all.find((one) => userOf(one.jid) === userOf(jid) || userOf(one.lid) === userOf(jid));
    if (!phone) return [];
    const ids = devicesOf(phone);
    const content: BinaryNode[] = [];
    for (const { tag } of (asked?.content as BinaryNode[]) ?? []) {
      if (tag === "lid") content.push({ tag: "lid", attrs: { val: phone.lid } });
      if (tag !== "devices") continue;
      const devices = ids.map((id) => ({ tag: "device", attrs: { id: String(id), "key-index": String(id) } }));
      content.push({ tag: "devices", attrs: {}, content: [{ tag: "device-list", attrs: {}, content: devices }] });
    }
    return [{ tag: "user", attrs: { jid }, content }];
  });
  return { tag: "usync", attrs: {}, content: [{ tag: "list", attrs: {}, content: list }] };
}

export const userOf = (jid: string): string => jid.split("@", 1)[0]!.split(":", 1)[0]!;

function bigEndian(number: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  bytes.writeUIntBE(number, 0, length);
  return bytes;
}

export function groupOf(id: string, creator: Phone, members: readonly Phone[]): BinaryNode {
  const attrs = { id, addressing_mode: "lid", subject: "Group", s_t: "1", creation: "1", creator: creator.lid };
  const content = members.map(({ lid, jid }) => ({ tag: "participant", attrs: { jid: lid, phone_number: jid } }));
  return { tag: "group", attrs, content };
}
