/** JSON bodies: the content type they come with, and their bytes turned into a value. */
import { isUtf8 } from "node:buffer";
import type { IncomingHttpHeaders } from "node:http";
import type { Json } from "@svc/contract";
import { errorReply, type Reply } from "./reply.ts";

/** 415 unless it is `application/json`, with any parameters, not compressed. */
export function refuseContentType(headers: IncomingHttpHeaders): Reply | undefined {
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    return errorReply("BAD_CONTENT_TYPE", { message: "The body must be sent uncompressed." });
  }
  return isJsonType(headers["content-type"]) ? undefined : errorReply("BAD_CONTENT_TYPE");
}

export function isJsonType(contentType: string | undefined): boolean {
  if (contentType === "application/json") return true;
  return contentType !== undefined && /^application\/json[ \t]*(?:;|$)/i.test(contentType);
}

/** The value, or undefined when the bytes are not UTF-8 or the text is not JSON. (`undefined` is no JSON value.) */
export function parseJson(body: Buffer): Json | undefined {
  if (!isUtf8(body)) return undefined;
  try {
    return JSON.parse(body.toString("utf8")) as Json;
  } catch {
    return undefined;
  }
}
