/** The header of a mail as the server has it: bytes that anybody may have written. RFC 5322, 2.2. */
import { isUtf8 } from "node:buffer";
import { type HeaderField, type Headers, headersFrom } from "@svc/kit/mail";

/** What is asked for of a header: more than any genuine one has. */
export const MAX_HEADER_BYTES = 262_144;

export const headersIn = (block: Buffer | undefined): Headers => headersFrom(fieldsIn(block ?? Buffer.alloc(0)));

/** A line that is no field, and what follows it until the next one, is left out. */
function* fieldsIn(block: Buffer): Generator<HeaderField> {
  const bytes = block.subarray(0, MAX_HEADER_BYTES);
  // RFC 6532 allows UTF-8; what else is not ASCII was never allowed, and is read as it was mostly meant.
  const text = bytes.toString(isUtf8(bytes) ? "utf8" : "latin1");
  let name: string | undefined;
  let value = "";
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (/^[ \t]/.test(line)) {
      value += ` ${line.trim()}`;
      continue;
    }
    if (name !== undefined) yield [name, value.trim()];
    if (line === "") return;
    const field = /^([!-9;-~]{1,200})[ \t]*:(.*)$/s.exec(line);
    name = field?.[1];
    value = field?.[2] ?? "";
  }
  if (name !== undefined) yield [name, value.trim()];
}
