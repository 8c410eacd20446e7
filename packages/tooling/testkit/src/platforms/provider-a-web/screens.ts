/** What people see on their phones: each message once, and what no session could open. */
import { type BinaryNode, proto, unpadRandomMax16 } from "baileys";
import { openedFile } from "./files.ts";
import { userOf } from "./keys.ts";
import type { Phone } from "./phone.ts";
import type { Seen } from "./platform.ts";

export interface ScreensDeps {
  readonly owner: Phone;
  readonly deviceJid: () => string;
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** A file as the phone shows it. */
  readonly told: (request: { readonly body: Uint8Array }) => void;
}

export function createScreens({ owner, deviceJid, files, told }: ScreensDeps) {
  const seen: Seen[] = [];
  const seenIds = new Set<string>();
  const broken: string[] = [];
  let repeated = 0;
  async function readOne(phone: Phone, enc: BinaryNode, { attrs: { id = "", to = "" } }: BinaryNode): Promise<void> {
    try {
      const message = await phone.decrypt(deviceJid(), enc.attrs["type"]!, enc.content as Uint8Array);
      const { deviceSentMessage: own } = message;
      if (own && userOf(own.destinationJid ?? "") !== userOf(to)) throw new Error("a copy for another chat");
      if (phone === owner && !own && !to.endsWith("@g.us")) throw new Error("a copy without its chat");
      see(phone, id, to, own?.message ?? message);
    } catch (error) {
      broken.push(`${phone.name}: ${enc.attrs["type"]} ${String(error)}`);
    }
  }

  async function readGroup(
    phone: Phone,
    ciphertext: Uint8Array,
    { attrs: { id = "", to = "" } }: BinaryNode,
  ): Promise<void> {
    try {
      const padded = await phone.repository.decryptGroupMessage({
        group: to,
        authorJid: deviceJid(),
        msg: Buffer.from(ciphertext),
      });
      see(phone, id, to, proto.Message.decode(unpadRandomMax16(padded)));
    } catch (error) {
      broken.push(`${phone.name} in the group: ${String(error)}`);
    }
  }

  function see(phone: Phone, id: string, chat: string, message: proto.IMessage): void {
    if (message.senderKeyDistributionMessage || message.protocolMessage) return;
    if (seenIds.has(`${phone.number} ${id}`)) return void (repeated += 1);
    seenIds.add(`${phone.number} ${id}`);
    const { extendedTextMessage: text, imageMessage, videoMessage, documentMessage } = message;
    const file = imageMessage ?? videoMessage ?? documentMessage ?? message.audioMessage ?? message.stickerMessage;
    // What the phone makes of the file, so that a test sees what was sent.
    if (file) told({ body: openedFile(files.get(file.directPath ?? ""), message) });
    const caption = imageMessage?.caption ?? videoMessage?.caption ?? documentMessage?.caption;
    seen.push({ by: phone.number, id, chat, text: text?.text ?? message.conversation ?? caption ?? "", message });
  }

  return {
    seen,
    broken,
    readOne,
    readGroup,
    get repeated() {
      return repeated;
    },
  };
}
