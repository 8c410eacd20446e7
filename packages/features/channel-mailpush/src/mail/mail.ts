/** One mail as the platform tells it. */
import { type Logger, SvcError } from "@svc/contract";
import { pathPart } from "@svc/kit";
import type { Headers } from "@svc/kit/mail";
import * as v from "valibot";
import type { MailApi } from "../api/mail-api.ts";
import { headersOf } from "./headers.ts";
import { type Leaf, leavesOf } from "./parts.ts";

export interface Mail {
  readonly id: string;
  readonly threadId: string;
  readonly labelIds: readonly string[];
  /** The beginning of its text, as HTML. */
  readonly snippet: string;
  /** When the platform took it; 0: it does not say. */
  readonly internalDateMs: number;
  readonly headers: Headers;
  /** Its parts that hold no others, in their order. */
  readonly leaves: readonly Leaf[];
}

const answer = v.object({
  id: v.pipe(v.string(), v.nonEmpty()),
  threadId: v.optional(v.pipe(v.string(), v.nonEmpty())),
  labelIds: v.fallback(v.array(v.string()), []),
  snippet: v.fallback(v.string(), ""),
  internalDate: v.pipe(
    v.fallback(v.union([v.string(), v.number()]), 0),
    v.transform(Number),
    v.check((ms) => Number.isFinite(ms)),
  ),
  payload: v.fallback(v.unknown(), undefined),
});

/** Undefined: it is gone, or the platform does not show it. */
export async function readMail(api: MailApi, id: string, log: Logger, signal: AbortSignal): Promise<Mail | undefined> {
  try {
    const mail = await asked(api, id, "full", signal);
    if (mail === "gone") return undefined;
    if (mail !== undefined) return mail;
    const beginning = await asked(api, id, "metadata", signal);
    return beginning === "gone" ? undefined : beginning;
  } catch (error) {
    // It must not stand in the way of all that came after it.
    if (!(error instanceof SvcError) || error.code !== "DELIVERY_REFUSED") throw error;
    log.warn("A mail can't be read and is left out.", { mail: id });
    return undefined;
  }
}

/** Without what is attached. */
const MAX_BYTES = 8_388_608;

/** `metadata`: without a text, for what is too large to be read. */
async function asked(
  api: MailApi,
  id: string,
  format: "full" | "metadata",
  signal: AbortSignal,
): Promise<Mail | "gone" | undefined> {
  const request = {
    path: `messages/${pathPart(id)}`,
    query: { format },
    answers: [404],
    maxBytes: MAX_BYTES,
  };
  const { status, json } = await api.call(request, signal);
  if (status === 404) return "gone";
  const parsed = v.safeParse(answer, json);
  if (!parsed.success) return undefined;
  const { payload, internalDate: internalDateMs, threadId = parsed.output.id, ...rest } = parsed.output;
  return { ...rest, threadId, internalDateMs, headers: headersOf(payload), leaves: leavesOf(payload) };
}
