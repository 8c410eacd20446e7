/** The body of `POST /webhook`: `{"message": string}`, other fields ignored. */
import { parseJson } from "../http/json.ts";
import { errorReply, type Reply } from "../http/reply.ts";

/** The message, or 400: BAD_JSON for what is no UTF-8 JSON, BAD_BODY for any other shape and for a blank message. */
export function messageOf(body: Buffer): string | Reply {
  const value = parseJson(body);
  if (value === undefined) return errorReply("BAD_JSON");
  if (value === null || typeof value !== "object" || Array.isArray(value)) return errorReply("BAD_BODY");
  const { message } = value as { message?: unknown };
  return typeof message === "string" && /\S/.test(message) ? message : errorReply("BAD_BODY");
}
