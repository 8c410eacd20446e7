/** What a mail says: its plain text, else its HTML as text, else the beginning that the platform tells. */
import { isUtf8 } from "node:buffer";
import { htmlToText } from "@svc/kit/mail";
import { decodeHTML } from "entities";
import type { Mail } from "./mail.ts";
import type { Leaf } from "./parts.ts";

export function bodyText({ leaves, snippet }: Pick<Mail, "leaves" | "snippet">): string {
  const inline = leaves.filter(({ isAttached }) => !isAttached);
  const texts = (mimeType: string, read: (text: string) => string): string[] =>
    inline.flatMap((leaf) => (leaf.mimeType === mimeType ? read(decoded(leaf)).trim() || [] : []));
  const plain = texts("text/plain", (text) => text.replaceAll(/\r\n?/g, "\n"));
  if (plain.length > 0) return plain.join("\n\n");
  const html = texts("text/html", htmlToText);
  return html.length > 0 ? html.join("\n\n") : decodeHTML(snippet).trim();
}

/** The platform gives UTF-8 whatever the mail was written in; where it does not, the mail's own word counts. */
function decoded({ data = "", charset }: Leaf): string {
  const bytes = Buffer.from(data, "base64");
  return decoderOf(isUtf8(bytes) ? "utf-8" : (charset ?? "windows-1252")).decode(bytes);
}

function decoderOf(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder("windows-1252");
  }
}
