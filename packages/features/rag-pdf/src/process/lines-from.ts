import type { Readable } from "node:stream";
import { SvcError } from "@svc/contract";
import * as v from "valibot";
import { INFO_KEYS, MAX_INFO_CHARS, MAX_PAGE_CHARS, type PdfLine } from "../protocol.ts";
import { tooMuch } from "./pdf-errors.ts";

/**
 * Lines of JSON, each checked: a file may have taken over the process that writes them. Rejects with PDF_TOO_MUCH beyond
 * `maxBytes`, TOOL_FAILED for what is no line of the protocol.
 */
export async function* linesFrom(output: Readable, maxBytes: number): AsyncGenerator<PdfLine> {
  let bytes = 0;
  let open: Buffer[] = [];
  for await (const chunk of output as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw tooMuch("text");
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      yield lineOf(Buffer.concat([...open, chunk.subarray(start, end)]));
      open = [];
      start = end + 1;
    }
    if (start < chunk.byteLength) open.push(chunk.subarray(start));
  }
}

function lineOf(bytes: Buffer): PdfLine {
  try {
    return v.parse(lineSchema, JSON.parse(bytes.toString("utf8"))) as PdfLine;
  } catch {
    throw new SvcError("TOOL_FAILED", "The process that reads PDFs answered something else than text.");
  }
}

const count = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1e9));
const info = v.pipe(v.string(), v.maxLength(MAX_INFO_CHARS));

const lineSchema = v.union([
  v.strictObject({
    document: v.strictObject({
      pages: count,
      info: v.strictObject(Object.fromEntries(INFO_KEYS.map((key) => [key, v.optional(info)]))),
    }),
  }),
  v.strictObject({
    page: count,
    text: v.pipe(v.string(), v.maxLength(MAX_PAGE_CHARS)),
    damaged: v.optional(v.literal(true)),
  }),
  v.strictObject({ end: v.literal(true) }),
  v.strictObject({ failed: v.picklist(["encrypted", "invalid", "too-much"]) }),
]);
