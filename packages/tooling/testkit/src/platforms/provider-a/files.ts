/** Media: uploaded as a form, looked up by id, and fetched from a link that needs the token too. */
import type { Json } from "@svc/contract";
import { createHash } from "node:crypto";
import type { PlatformReply, PlatformRequest } from "../base.ts";
import { graphError, noSuchObject } from "./graph-error.ts";

export interface StoredFile {
  readonly id: string;
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

export interface Files {
  /** POST of a form. */
  upload(request: PlatformRequest): Promise<PlatformReply>;
  /** What a message came with; `link`: where the platform says it is, when that is somewhere else. */
  add(bytes: Uint8Array, mimeType: string, link?: string): string;
  find(id: string): StoredFile | undefined;
  /** GET of an id. */
  describe(id: string): PlatformReply;
  /** GET of the link. */
  serve(request: PlatformRequest): PlatformReply;
  /** As after seven days. */
  forget(id: string): void;
}

/** `url`: of the server that holds the links. */
export function createFiles(url: string): Files {
  const files = new Map<string, StoredFile & { readonly link: string }>();
  let count = 0;
  const add = (bytes: Uint8Array, mimeType: string, name = "", link?: string): string => {
    const id = String(1_037_543_291_540_000 + (count += 1));
    const query = new URLSearchParams({ mid: id, ext: "1754000000", hash: "ATvvkd" });
    const own = `${url}${LINK_PATH}?${query}`;
    files.set(id, { id, name, mimeType, bytes, link: link ?? own });
    return id;
  };
  return {
    add: (bytes, mimeType, link) => add(bytes, mimeType, "", link),
    find: (id) => files.get(id),
    forget: (id) => void files.delete(id),
    async upload(request) {
      const form = await formOf(request);
      if (form === undefined) return graphError(100, "The parameter file is required.");
      if (form.get("messaging_product") !== "whatsapp") return graphError(100, "messaging_product is required.");
      const file = form.get("file");
      if (!(file instanceof File)) return graphError(100, "The parameter file is required.");
      const [mimeType = ""] = file.type.split(";");
      const maxBytes = MAX_BYTES.get(mimeType);
      if (maxBytes === undefined)
        return graphError(100, "Param file must be a file with one of the types in the list.");
      if (file.size === 0 || file.size > maxBytes) return graphError(131053, "Media upload error");
      return { json: { id: add(await file.bytes(), mimeType, file.name) } };
    },
    describe(id) {
      const file = files.get(id);
      if (file === undefined) return noSuchObject();
      const json: Json = {
        messaging_product: "whatsapp",
        url: file.link,
        mime_type: file.mimeType,
        sha256: createHash("sha256").update(file.bytes).digest("hex"),
        file_size: file.bytes.length,
        id,
      };
      return { json };
    },
    serve({ query }) {
      const file = files.get(query.get("mid") ?? "");
      if (file === undefined) return { status: 404, headers: { "content-type": "text/html" } };
      return { headers: { "content-type": file.mimeType }, bytes: file.bytes };
    },
  };
}

export const LINK_PATH = "/whatsapp_business/attachments/";

async function formOf({ headers, body }: PlatformRequest): Promise<FormData | undefined> {
  const contentType = headers["content-type"];
  if (contentType === undefined || !contentType.startsWith("multipart/form-data")) return undefined;
  const response = new Response(body as Uint8Array<ArrayBuffer>, { headers: { "content-type": contentType } });
  return await response.formData().catch(() => undefined);
}

const MB = 1_048_576;
const OFFICE = "application/vnd.openxmlformats-officedocument";

/** What can be uploaded, and how large. */
const MAX_BYTES: ReadonlyMap<string, number> = new Map([
  ...["audio/aac", "audio/amr", "audio/mpeg", "audio/mp4", "audio/ogg"].map((type) => [type, 16 * MB] as const),
  ...["image/jpeg", "image/png"].map((type) => [type, 5 * MB] as const),
  ...["video/mp4", "video/3gpp"].map((type) => [type, 16 * MB] as const),
  ["image/webp", 500 * 1024],
  ...[
    "text/plain",
    "application/pdf",
    "application/msword",
    "application/vnd.ms-excel",
    "application/vnd.ms-powerpoint",
    `${OFFICE}.wordprocessingml.document`,
    `${OFFICE}.spreadsheetml.sheet`,
    `${OFFICE}.presentationml.presentation`,
  ].map((type) => [type, 100 * MB] as const),
]);
