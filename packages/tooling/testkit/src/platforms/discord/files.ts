/** Files of the platform, which are fetched without a token. https://docs.discord.com/developers/reference#signed-attachment-cdn-urls */
import type { Json } from "@svc/contract";
import type { PlatformReply } from "../base.ts";

export interface DiscordFile {
  readonly bytes: Uint8Array;
  readonly filename: string;
  readonly contentType: string;
}

export interface DiscordFiles {
  /** An attachment of a message. */
  attach(channelId: string, file: DiscordFile): Record<string, Json>;
  /** At a path of its own, e.g. `/stickers/1.png`. */
  put(path: string, file: DiscordFile): void;
  serve(path: string): PlatformReply | undefined;
}

/** `origin`: of the platform, once that is known. */
export function discordFiles(origin: () => string, newId: () => string): DiscordFiles {
  const files = new Map<string, DiscordFile>();
  return {
    attach(channelId, file) {
      const id = newId();
      const path = `/attachments/${channelId}/${id}/${encodeURIComponent(file.filename)}`;
      files.set(path, file);
      const url = `${origin()}${path}?ex=65d903de&is=65c68ede&hm=2481f30dd67f503f54d020ae3b5533b9987fae4e&`;
      const { filename, contentType, bytes } = file;
      return { id, filename, size: bytes.length, url, proxy_url: url, content_type: contentType };
    },
    put: (path, file) => void files.set(path, file),
    serve(path) {
      const file = files.get(path);
      return file && { headers: { "content-type": file.contentType }, bytes: file.bytes };
    },
  };
}
