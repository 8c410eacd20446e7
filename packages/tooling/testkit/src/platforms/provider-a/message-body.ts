/** What makes a message one that it takes. Fields that the documents do not name are refused, as the real one does. */
import type { PlatformReply } from "../base.ts";
import { graphError } from "./graph-error.ts";
import { interactiveProblem } from "./interactive.ts";
import type { StoredFile } from "./files.ts";

export type Body = Readonly<Record<string, unknown>>;

const COMMON = [
  "messaging_product",
  "recipient_type",
  "to",
  "recipient",
  "type",
  "context",
  "biz_opaque_callback_data",
];
const MEDIA_FIELDS: Readonly<Record<string, readonly string[]>> = {
  image: ["id", "link", "caption"],
  audio: ["id", "link", "voice"],
  video: ["id", "link", "caption"],
  document: ["id", "link", "caption", "filename"],
  sticker: ["id", "link"],
};
const MAX_TEXT_CHARS = 4096;
const MAX_CAPTION_CHARS = 1024;
const MAX_OPAQUE_CHARS = 512;

/** Undefined when there is nothing wrong with it. */
export function messageProblem(body: Body, fileOf: (id: string) => StoredFile | undefined): PlatformReply | undefined {
  const type = String(body["type"] ?? "text");
  return (
    unknownField(body, [...COMMON, type]) ??
    recipientProblem(body) ??
    contextProblem(body["context"]) ??
    opaqueProblem(body["biz_opaque_callback_data"]) ??
    contentProblem(type, body, fileOf)
  );
}

function contentProblem(type: string, body: Body, fileOf: (id: string) => StoredFile | undefined) {
  if (type === "text") return textProblem(body["text"]);
  if (type !== "interactive") return mediaProblem(type, body[type], fileOf);
  if (body["recipient_type"] === "group") return graphError(131051, "Interactive messages can't be sent to groups.");
  return interactiveProblem(body["interactive"]);
}

function unknownField(body: Body, known: readonly string[]): PlatformReply | undefined {
  const unknown = Object.keys(body).find((field) => !known.includes(field));
  return unknown === undefined ? undefined : graphError(100, `Unexpected key "${unknown}".`);
}

function recipientProblem({ recipient_type: kind = "individual", to, recipient }: Body): PlatformReply | undefined {
  if (to === undefined && recipient === undefined) return graphError(100, "The parameter to is required.");
  if (kind === "group") return typeof to === "string" && to.length >= 20 ? undefined : graphError(131009, "to");
  if (kind !== "individual") return graphError(131009, "recipient_type must be one of individual, group.");
  if (to !== undefined) return /^\+?[0-9]{3,20}$/.test(String(to)) ? undefined : graphError(131009, "to");
  return /^[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}$/.test(String(recipient))
    ? undefined
    : graphError(131009, "recipient is not a valid user id.");
}

function contextProblem(context: unknown): PlatformReply | undefined {
  if (context === undefined) return undefined;
  const { message_id: id } = (context ?? {}) as Body;
  return typeof id === "string" && id !== "" ? undefined : graphError(100, "context.message_id is required.");
}

function opaqueProblem(opaque: unknown): PlatformReply | undefined {
  const fits = opaque === undefined || (typeof opaque === "string" && opaque.length <= MAX_OPAQUE_CHARS);
  return fits ? undefined : graphError(100, "biz_opaque_callback_data must be at most 512 characters.");
}

function textProblem(text: unknown): PlatformReply | undefined {
  const { body, ...rest } = (text ?? {}) as Body;
  if (typeof body !== "string" || body.trim() === "") return graphError(100, "The parameter text['body'] is required.");
  if (body.length > MAX_TEXT_CHARS) return graphError(100, "Param text['body'] must be at most 4096 characters long.");
  if (typeof (rest["preview_url"] ?? false) !== "boolean") return graphError(100, "Param text['preview_url']");
  return unknownField(rest, ["preview_url"]);
}

function mediaProblem(
  type: string,
  content: unknown,
  fileOf: (id: string) => StoredFile | undefined,
): PlatformReply | undefined {
  const fields = MEDIA_FIELDS[type];
  if (fields === undefined) return graphError(131051, "Message type is not currently supported.");
  const { id, caption = "", ...rest } = (content ?? {}) as Body;
  const unknown = unknownField((content ?? {}) as Body, fields);
  if (unknown) return unknown;
  if (typeof id !== "string" || rest["link"] !== undefined) return graphError(100, `Param ${type} needs an id.`);
  const file = fileOf(id);
  if (file === undefined) return graphError(100, `Param ${type}['id'] is not a valid media attachment id.`);
  if (!fits(type, file.mimeType)) return graphError(131053, "The file's type does not fit the message's.");
  if (typeof caption !== "string" || caption.length > MAX_CAPTION_CHARS) return graphError(100, "caption");
  return undefined;
}

/** A document may be of any type that can be uploaded. */
const fits = (type: string, mimeType: string): boolean =>
  type === "document" || (type === "sticker" ? mimeType === "image/webp" : mimeType.startsWith(`${type}/`));
