/** The MIME tree of a mail, as the leaves that matter. */
import { parameterOf } from "@svc/kit/mail";
import * as v from "valibot";
import { headersOf } from "./headers.ts";

export interface Leaf {
  /** Place in the tree; stays the same each time it is asked for, as the ids of attachments do not. */
  readonly partId: string;
  /** Lower case. */
  readonly mimeType: string;
  readonly charset: string | undefined;
  readonly fileName: string;
  /** Shown as a file beside the text. */
  readonly isAttached: boolean;
  /** base64url; undefined where it has to be fetched. */
  readonly data: string | undefined;
  readonly attachmentId: string | undefined;
  readonly sizeBytes: number;
}

const anyText = v.fallback(v.string(), "");
const part = v.object({
  partId: anyText,
  mimeType: anyText,
  filename: anyText,
  body: v.fallback(
    v.object({
      size: v.fallback(v.number(), 0),
      data: v.fallback(v.optional(v.string()), undefined),
      attachmentId: v.fallback(v.optional(v.string()), undefined),
    }),
    { size: 0, data: undefined, attachmentId: undefined },
  ),
  parts: v.fallback(v.array(v.unknown()), []),
});

/** Nobody writes a mail with more; whoever makes one must not keep us busy. */
const MAX_PARTS = 1000;

export function leavesOf(payload: unknown): Leaf[] {
  const leaves: Leaf[] = [];
  const waiting: unknown[] = [payload];
  for (let count = 0; waiting.length > 0 && count < MAX_PARTS; count += 1) {
    const raw = waiting.pop();
    const parsed = v.safeParse(part, raw);
    if (!parsed.success) continue;
    // The first of its parts is the next one.
    if (parsed.output.parts.length > 0) waiting.push(...parsed.output.parts.slice(0, MAX_PARTS).toReversed());
    else leaves.push(leafOf(parsed.output, raw));
  }
  return leaves;
}

function leafOf({ partId, mimeType, filename, body }: v.InferOutput<typeof part>, raw: unknown): Leaf {
  const headers = headersOf(raw);
  const isAttached = filename !== "" || /^\s*attachment\b/i.test(headers.get("content-disposition"));
  return {
    partId,
    mimeType: mimeType.toLowerCase(),
    charset: parameterOf(headers.get("content-type"), "charset"),
    fileName: filename,
    isAttached,
    data: body.data,
    attachmentId: body.attachmentId,
    sizeBytes: body.size,
  };
}
