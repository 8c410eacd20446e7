/** Bodies of requests, in either of the two forms that the platform takes. */
import type { Json } from "@svc/contract";
import * as v from "valibot";
import type { PlatformRequest } from "../base.ts";
import { invalidForm, refusal } from "./errors.ts";

export interface UploadedFile {
  readonly index: string;
  readonly name: string;
  readonly type: string;
  readonly bytes: Uint8Array;
}

export interface FormBody {
  readonly json: Json | undefined;
  readonly files: readonly UploadedFile[];
}

/** https://docs.discord.com/developers/reference#uploading-files */
export async function bodyOf({ headers, body, json }: PlatformRequest): Promise<FormBody> {
  const type = headers["content-type"] ?? "";
  if (type.startsWith("application/json")) {
    if (json === undefined) throw refusal("badJson");
    return { json, files: [] };
  }
  if (!type.startsWith("multipart/form-data")) throw refusal("badJson");
  const form = await new Response(body as Uint8Array<ArrayBuffer>, { headers: { "content-type": type } })
    .formData()
    .catch(() => {
      throw refusal("badJson");
    });
  const files: UploadedFile[] = [];
  for (const [field, value] of form) {
    if (field === "payload_json") continue;
    const index = /^files\[(\d+)\]$/.exec(field)?.[1];
    if (index === undefined || typeof value === "string") throw invalidForm([field], "UNKNOWN_FIELD", "Unknown field");
    files.push({ index, name: value.name, type: value.type, bytes: await value.bytes() });
  }
  const payload = form.get("payload_json");
  return { json: typeof payload === "string" ? jsonOf(payload) : {}, files };
}

function jsonOf(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw refusal("badJson");
  }
}

/** Throws 50035 with the first field that is wrong. */
export function parsed<Schema extends v.GenericSchema>(schema: Schema, json: Json | undefined): v.InferOutput<Schema> {
  const { success, output, issues } = v.safeParse(schema, json, { abortEarly: true });
  if (success) return output;
  const path = issues[0].path?.map(({ key }) => String(key)) ?? [];
  throw invalidForm(path, codeOf(issues[0].type), issues[0].message);
}

const codeOf = (type: string): string =>
  type === "max_length" || type === "min_length"
    ? "BASE_TYPE_BAD_LENGTH"
    : type === "strict_object"
      ? "UNKNOWN_FIELD"
      : "BASE_TYPE_BAD_TYPE";
