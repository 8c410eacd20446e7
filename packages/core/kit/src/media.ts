/** Files of messages: their download from a link, and their kind. */
import { type FeatureContext, type FetchOptions, type FetchedMedia, type MediaKind, SvcError } from "@svc/contract";
import { retryAfterMs } from "./platform-call.ts";

export interface MediaDownload {
  readonly url: string;
  readonly maxBytes: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly redirects?: NonNullable<FetchOptions["redirects"]>;
  /** Takes the file chunk by chunk. If the file is refused later, the caller discards the chunks. */
  readonly write: (chunk: Uint8Array) => Promise<void>;
  readonly signal: AbortSignal;
  /** For a `Retry-After` that is a date. */
  readonly nowMs: number;
}

/** Throws MEDIA_REFUSED (gone, too large, an address that is refused), REMOTE_* for what may be there later. */
export async function downloadMedia(fetch: FeatureContext["fetch"], download: MediaDownload): Promise<FetchedMedia> {
  const { url, nowMs, ...options } = download;
  const { status, headers, truncated } = await fetch(url, { timeoutMs: TIME_LIMIT_MS, ...options }).catch(asRefusal);
  if (status === 408 || status === 429 || status >= 500) {
    const waitMs = retryAfterMs(headers["retry-after"], nowMs);
    throw new SvcError("REMOTE_UNREACHABLE", statusText(status), {
      ...(waitMs !== undefined && { retryAfterMs: waitMs }),
    });
  }
  // 206 and the like are no whole file.
  if (status !== 200) throw new SvcError("MEDIA_REFUSED", statusText(status));
  if (truncated) {
    throw new SvcError("MEDIA_REFUSED", `The file is larger than ${Math.floor(options.maxBytes / 1_048_576)} MiB.`);
  }
  const mimeType = /^[\w.+-]+\/[\w.+-]+/.exec(headers["content-type"]?.trim() ?? "")?.[0];
  return mimeType === undefined ? {} : { mimeType: mimeType.toLowerCase() };
}

const TIME_LIMIT_MS = 120_000;

const statusText = (status: number): string => `The server of the file answered with status ${status}.`;

/** A link to a private address, to another host or to none at all does not get better. */
function asRefusal(error: unknown): never {
  if (!(error instanceof SvcError) || error.code !== "ADDRESS_REFUSED") throw error;
  throw new SvcError("MEDIA_REFUSED", "The file's address, or one that it leads to, is refused.", { cause: error });
}

// Kinds of files.

/** For a platform that takes files of every kind: `Media.sends`. */
export const MEDIA_KINDS: readonly MediaKind[] = Object.freeze([
  "image",
  "audio",
  "video",
  "document",
  "sticker",
] as const);

/** By its media type; a document where that says nothing else. */
export function mediaKindOf(mimeType: string | undefined): MediaKind {
  const kind = mimeType?.split("/", 1)[0]?.trim().toLowerCase();
  return kind === "image" || kind === "audio" || kind === "video" ? kind : "document";
}
