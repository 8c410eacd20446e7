/** The form that a file is sent in. */
import type { PlatformRequest } from "../base.ts";

export interface ReceivedFile {
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** Undefined when it is no form, or has no file in it. */
export async function formOf(
  request: PlatformRequest,
): Promise<{ target: string; caption: string; file: ReceivedFile } | undefined> {
  const type = request.headers["content-type"] ?? "";
  if (!type.startsWith("multipart/form-data")) return undefined;
  const body = Uint8Array.from(request.body);
  const form = await new Response(body, { headers: { "content-type": type } }).formData().catch(() => undefined);
  const file = form?.get("file");
  if (form === undefined || !(file instanceof File)) return undefined;
  return {
    target: String(form.get("target") ?? ""),
    caption: String(form.get("caption") ?? ""),
    file: { name: file.name, mimeType: file.type, bytes: new Uint8Array(await file.arrayBuffer()) },
  };
}
