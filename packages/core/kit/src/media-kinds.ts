/** Kinds of files, and which one a media type is of. */
import type { MediaKind } from "@svc/contract";

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
