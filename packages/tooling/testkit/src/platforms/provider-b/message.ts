/** What makes a message one that it takes. */
import type { PlatformReply } from "../base.ts";
import { refused } from "./answers.ts";
import type { Attachment } from "./attachments.ts";

export interface MessageBody {
  readonly parts: readonly MessagePart[];
  readonly idempotency_key?: string;
}

interface MessagePart {
  readonly type: string;
  readonly value?: string;
  readonly url?: string;
  readonly attachment_id?: string;
}

/** E.164, or a mail address. */
export const isHandle = (text: unknown): boolean =>
  typeof text === "string" && /^\+[1-9][0-9]{1,14}$|^[^\s@]+@[^\s@]+$/.test(text);

const MAX_PARTS = 100;
const MAX_TEXT_CHARS = 10_000;
const MAX_KEY_CHARS = 255;

/** Undefined for a message without text. */
export function checkMessage(
  message: MessageBody | undefined,
  find: (id: string | undefined) => Attachment | undefined,
): PlatformReply | undefined {
  const parts = message?.parts;
  if (!Array.isArray(parts) || parts.length === 0) return refused(400, 1001);
  if (parts.length > MAX_PARTS || (message?.idempotency_key ?? "").length > MAX_KEY_CHARS) return refused(400, 1005);
  for (const [index, part] of (parts as readonly MessagePart[]).entries()) {
    if (part.type === "text") {
      if (typeof part.value !== "string" || part.value === "" || part.value.length > MAX_TEXT_CHARS) {
        return refused(400, 1004);
      }
      // Two texts in a row are one text.
      if ((parts as readonly MessagePart[])[index - 1]?.type === "text") return refused(400, 1004);
    } else if (part.type === "media") {
      if (part.url !== undefined) continue;
      const file = find(part.attachment_id);
      if (file === undefined) return refused(404, 2003);
      if (file.bytes === undefined) return refused(404, 2007);
    } else return refused(400, 1004);
  }
  return undefined;
}
