/** The page at `/`: its files as they are in the binary, each with the answers it can have. No file system, no template. */
import type { Handle } from "../pipeline.ts";
import { acceptsGzip, allowHeader, contentTag, isKnown, notAllowed, optionsReply, Reply } from "../http/reply.ts";

/** A file of the page that is served at `/`. */
export interface PageFile {
  /** `Content-Type`. */
  readonly type: string;
  readonly bytes: Uint8Array;
  /** Gzip of the same, where that is smaller. */
  readonly gzip?: Uint8Array;
  /** Its name changes with its content, so that it may be kept for good. */
  readonly isImmutable: boolean;
}

/**
 * What the page may do: run its own script, draw with its own styles, talk to the gateway it came from (a WebSocket to the
 * same host is `self` too). An injected script can neither load nor send data elsewhere.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // Pictures of a conversation are fetched with the page's secret, and shown from memory.
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const SECURITY: readonly string[] = [
  "content-security-policy",
  POLICY,
  "referrer-policy",
  "no-referrer",
  "x-frame-options",
  "DENY",
  "cross-origin-opener-policy",
  "same-origin",
  "cross-origin-resource-policy",
  "same-origin",
  "permissions-policy",
  "camera=(), display-capture=(), geolocation=(), microphone=(self), midi=(), payment=(), usb=()",
];

/** Asked about each time: after an upgrade an old page would talk to a new gateway. */
const ASK_EACH_TIME = "no-cache";
const FOR_GOOD = "public, max-age=31536000, immutable";

const ALLOW = allowHeader(["GET", "HEAD", "OPTIONS"]);
const OPTIONS = optionsReply(ALLOW);
const NOT_ALLOWED = notAllowed(ALLOW);

/** By path. Empty in a build without the page. */
export const pageHandles = (page: ReadonlyMap<string, PageFile>): ReadonlyMap<string, Handle> =>
  new Map(Array.from(page, ([path, file]) => [path, handleOf(file)]));

function handleOf(file: PageFile): Handle {
  // Made for the first who asks: the start has no use for it.
  let answers: Answers | undefined;
  return ({ method, headers }) => {
    if (method === "OPTIONS") return OPTIONS;
    if (method !== "GET" && method !== "HEAD") return NOT_ALLOWED;
    answers ??= answersOf(file);
    if (isKnown(headers, answers.etag)) return answers.same;
    return acceptsGzip(headers["accept-encoding"]) ? answers.compressed : answers.plain;
  };
}

interface Answers {
  readonly etag: string;
  readonly plain: Reply;
  readonly compressed: Reply;
  readonly same: Reply;
}

function answersOf({ type, bytes, gzip, isImmutable }: PageFile): Answers {
  // Weak: compressed or not, it is one file.
  const etag = `W/"${contentTag(bytes)}"`;
  const headers = ["etag", etag, ...(gzip ? ["vary", "accept-encoding"] : []), ...SECURITY];
  const reply = (status: number, body: string | Uint8Array, more: readonly string[] = []): Reply =>
    new Reply(status, type, body, [...headers, ...more], isImmutable ? FOR_GOOD : ASK_EACH_TIME);
  const plain = reply(200, bytes);
  const compressed = gzip ? reply(200, gzip, ["content-encoding", "gzip"]) : plain;
  return { etag, plain, compressed, same: reply(304, "") };
}
