/** What a client may say on a WebSocket. */
import { parseJson } from "@svc/kit";
import * as v from "valibot";
import { errorReply, Reply } from "../http/reply.ts";
import { MESSAGE } from "../webhook/message.ts";
import { SESSION_ID } from "../webhook/request-headers.ts";

export type ClientFrame =
  | { readonly type: "message"; readonly content: string; readonly session: string | undefined }
  | { readonly type: "resume"; readonly after: string | undefined };

const FRAME = v.object({ type: v.string() });
const CONTENT = MESSAGE.entries.message;
const SESSION = v.nullish(SESSION_ID);

const NO_CONTENT = errorReply("BAD_BODY", { message: 'A message needs a non-blank string "content".' });
const BAD_SESSION = errorReply("BAD_SESSION_ID", {
  message: "session_id must be 1 to 128 characters of A-Z a-z 0-9 . _ and -.",
});
const BAD_RESUME = errorReply("BAD_REQUEST", { message: "last_event_id must be the id of an event." });
const BAD_TYPE = errorReply("BAD_REQUEST", { message: 'Each frame is an object with "type": "message" or "resume".' });
const BINARY = errorReply("BAD_REQUEST", { message: "Only text frames are understood." });

/** Never quotes what was sent. Other fields are ignored, as in `POST /webhook`. */
export function clientFrame(data: Buffer, isBinary: boolean): ClientFrame | Reply {
  if (isBinary) return BINARY;
  const value = parseJson(data);
  if (value === undefined) return errorReply("BAD_JSON");
  if (!v.is(FRAME, value)) return BAD_TYPE;
  if (value.type === "message") return messageFrame(value);
  return value.type === "resume" ? resumeFrame(value) : BAD_TYPE;
}

function messageFrame(value: object): ClientFrame | Reply {
  const { content, session_id: session } = value as Readonly<Record<string, unknown>>;
  if (!v.is(CONTENT, content)) return NO_CONTENT;
  if (!v.is(SESSION, session)) return BAD_SESSION;
  return { type: "message", content, session: session ?? undefined };
}

function resumeFrame(value: object): ClientFrame | Reply {
  const { last_event_id: after } = value as Readonly<Record<string, unknown>>;
  return after === undefined || after === null || typeof after === "string"
    ? { type: "resume", after: after ?? undefined }
    : BAD_RESUME;
}
