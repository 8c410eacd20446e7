/** JSON bodies: the content type they must come with. */
import type { IncomingHttpHeaders } from "node:http";
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
