/** Files: a place is asked for, the bytes are put there, the id goes into a message. */
import { randomUUID } from "node:crypto";
import type { PlatformReply, PlatformRequest } from "../base.ts";
import { created, refused } from "./answers.ts";

export interface Attachment {
  readonly name: string;
  readonly mimeType: string;
  readonly size: number;
  /** Undefined until it is uploaded. */
  readonly bytes: Uint8Array | undefined;
}

export interface Attachments {
  place(json: unknown): PlatformReply;
  /** PUT of a place, GET of what is there. */
  serve(request: PlatformRequest): PlatformReply;
  find(id: string | undefined): Attachment | undefined;
  host(bytes: Uint8Array, mimeType: string): string;
}

const MAX_BYTES = 100_000_000;

export function createAttachments(url: string): Attachments {
  const files = new Map<string, Attachment>();
  return {
    place(json) {
      const { filename, content_type: mimeType, size_bytes: size } = (json ?? {}) as Record<string, unknown>;
      if (typeof filename !== "string" || filename === "" || typeof size !== "number") return refused(400, 1001);
      if (typeof mimeType !== "string" || !TAKEN.test(mimeType)) return refused(400, 5004);
      if (size > MAX_BYTES) return refused(400, 5005);
      const id = randomUUID();
      files.set(id, { name: filename, mimeType, size, bytes: undefined });
      return created(201, {
        attachment_id: id,
        upload_url: `${url}/files/${id}?X-Amz-Signature=abc`,
        http_method: "PUT",
        required_headers: { "Content-Type": mimeType, "Content-Length": String(size) },
        expires_at: "2026-01-01T00:15:00Z",
        download_url: `${url}/files/${id}`,
      });
    },
    serve({ method, path, headers, body }) {
      const id = path.slice("/files/".length);
      const file = files.get(id);
      if (file === undefined) return { status: 404 };
      if (method === "GET") {
        return file.bytes ? { headers: { "content-type": file.mimeType }, bytes: file.bytes } : { status: 404 };
      }
      // The place is signed with exactly these values.
      const fits = headers["content-type"] === file.mimeType && Number(headers["content-length"]) === file.size;
      if (method !== "PUT" || !fits || body.length !== file.size) return { status: 403 };
      files.set(id, { ...file, bytes: body });
      return { status: 200 };
    },
    find: (id) => files.get(id ?? ""),
    host(bytes, mimeType) {
      const id = randomUUID();
      files.set(id, { name: id, mimeType, size: bytes.length, bytes });
      return `${url}/files/${id}`;
    },
  };
}

/** OGG, FLAC, SVG and programs are not. */
const TAKEN =
  /^(?:image\/(?:jpeg|png|gif|hei[cf]|tiff|bmp)|video\/(?:mp4|quicktime|mpeg|3gpp)|audio\/(?:mpeg|x-m4a|x-caf|x-wav|x-aiff|aac|amr)|text\/(?:plain|csv|rtf|html|calendar|vcard)|application\/(?:pdf|zip|json|msword|vnd\..+))$/;
