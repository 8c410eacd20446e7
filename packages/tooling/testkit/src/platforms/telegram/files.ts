/** Files that people send, which a bot fetches in two steps. https://core.telegram.org/bots/api#getfile */
import type { Json } from "@svc/contract";
import type { PlatformReply } from "../base.ts";
import { badRequest, failed } from "./answer.ts";

/** The most that a bot may fetch. */
const MAX_BYTES = 20_000_000;

export interface Files {
  /** Its id. `path`: where the platform says that it is, when that is another place than its own. */
  host(bytes: Uint8Array, path?: string): string;
  /** Throws what the platform says of one that can't be fetched. */
  describe(fileId: Json): Json;
  /** `path`: behind `/file/bot<token>/`. */
  serve(path: string): PlatformReply;
  /** Links to files end after an hour: all of them, now. */
  expire(): void;
}

export function createFiles(): Files {
  const hosted = new Map<string, { readonly bytes: Uint8Array; readonly path: string }>();
  const linked = new Map<string, string>();
  return {
    host(bytes, path) {
      const number = hosted.size + 1;
      const fileId = `AgACAgIAAxkBAAI-${number}`;
      hosted.set(fileId, { bytes, path: path ?? `documents/file_${number}.bin` });
      return fileId;
    },
    describe(fileId) {
      const file = hosted.get(String(fileId));
      if (file === undefined) throw badRequest("wrong file_id or the file is temporarily unavailable");
      if (file.bytes.length > MAX_BYTES) throw badRequest("file is too big");
      linked.set(file.path, String(fileId));
      return {
        file_id: String(fileId),
        file_unique_id: `unique-${String(fileId)}`,
        file_size: file.bytes.length,
        file_path: file.path,
      };
    },
    serve(path) {
      const file = hosted.get(linked.get(path) ?? "");
      if (file === undefined) return failed({ code: 404, description: "Not Found" });
      return { headers: { "content-type": "application/octet-stream" }, bytes: file.bytes };
    },
    expire: () => linked.clear(),
  };
}
