/** A part's text, from the bytes that were transferred: transfer encoding, charset, flowed lines. */
import type { Part } from "./structure.ts";

/** Never throws: what can't be decoded is read as it stands there. */
export async function decoded(part: Pick<Part, "type" | "parameters" | "encoding">, bytes: Buffer): Promise<string> {
  const parameters = ["charset", "format", "delsp"].flatMap((name) => {
    const value = part.parameters[name];
    return value !== undefined && TOKEN.test(value) ? [`; ${name}="${value}"`] : [];
  });
  const encoding = TOKEN.test(part.encoding) ? part.encoding : "7bit";
  const head = `Content-Type: ${part.type}${parameters.join("")}\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n`;
  const mail = await parsed(Buffer.concat([Buffer.from(head), bytes]));
  return (mail === undefined ? bytes.toString("utf8") : mail.text || mail.html).replaceAll(/\r\n?/g, "\n");
}

/** What a header of ours can hold. */
const TOKEN = /^[\w.:+-]{1,60}$/;

export interface ParsedMail {
  readonly text: string;
  readonly html: string;
  /** Names of its files. */
  readonly files: readonly string[];
}

/** Undefined: the library gives up on it. */
export async function parsed(source: Buffer): Promise<ParsedMail | undefined> {
  const { simpleParser } = await import("mailparser");
  try {
    const mail = await simpleParser(source, {
      // Texts are made of HTML by a reader that nested tags don't stop.
      skipHtmlToText: true,
      skipTextToHtml: true,
      skipImageLinks: true,
      skipTextLinks: true,
      keepCidLinks: true,
    });
    const files = mail.attachments.map(({ filename }) => filename ?? "");
    return { text: mail.text ?? "", html: mail.html === false ? "" : (mail.html ?? ""), files };
  } catch {
    return undefined;
  }
}
