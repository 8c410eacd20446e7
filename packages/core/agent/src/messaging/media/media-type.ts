/** What kind of file a name promises. */
import type { MediaKind } from "@svc/contract";

/** The library's tables take 16 ms to evaluate: only a service that sends files pays for them. */
export async function mediaTypeOf(fileName: string): Promise<string> {
  const { default: mime } = await import("mime");
  return mime.getType(fileName) ?? "application/octet-stream";
}

/** Whatever is no picture, sound or film is a document. */
export function mediaKindOf(mimeType: string): Exclude<MediaKind, "sticker"> {
  const [family] = mimeType.split("/", 1);
  return family === "image" || family === "audio" || family === "video" ? family : "document";
}
