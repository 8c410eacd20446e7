/** Bodies of requests below `/api/`. */
import type { Json } from "@svc/contract";
import { parseJson } from "@svc/kit";
import * as v from "valibot";
import { readBody } from "../http/body.ts";
import type { MemoryRoom } from "../http/memory-room.ts";
import { refuseContentType } from "../http/json.ts";
import { errorReply, Reply } from "../http/reply.ts";
import { NO_ROOM } from "../http/with-body.ts";
import type { ApiRequest } from "./app.ts";

export interface BodyLimits {
  readonly maxBytes: number;
  /** Shared with others while the body comes in. */
  readonly room: MemoryRoom;
}

/** All of it; empty without one. 415, 413, or 401 for a device that was shut out while it came in. */
export async function bodyBytes(
  { env: { incoming, outgoing } }: Pick<ApiRequest, "env">,
  { maxBytes, room }: BodyLimits,
): Promise<Buffer | Reply> {
  const { headers } = incoming;
  const hasBody = headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
  const refused = hasBody ? refuseContentType(headers) : undefined;
  if (refused) return refused;
  const body = await readBody(incoming, outgoing, maxBytes, room);
  if (body === "too-large") return errorReply("TOO_LARGE");
  if (body === "no-room") return NO_ROOM;
  if (body === "gone") return errorReply("BAD_REQUEST");
  // It has its answer already, and must not have its way.
  return outgoing.headersSent ? errorReply("UNAUTHORIZED") : body;
}

/** What the schema makes of the parsed body; null without a body. */
export async function jsonBody(
  request: Pick<ApiRequest, "env">,
  schema: v.GenericSchema | undefined,
  limits: BodyLimits,
): Promise<Json | Reply> {
  const body = await bodyBytes(request, limits);
  if (body instanceof Reply) return body;
  const value = body.length === 0 ? null : parseJson(body);
  if (value === undefined) return errorReply("BAD_JSON");
  return schema ? fitted(value, schema) : value;
}

function fitted(value: Json, schema: v.GenericSchema): Json | Reply {
  const parsed = v.safeParse(schema, value, { abortEarly: true });
  // To valibot a list is an object too.
  const isList = Array.isArray(value) && "entries" in schema;
  return parsed.success && !isList ? (parsed.output as Json) : BAD_BODY;
}

const BAD_BODY = errorReply("BAD_REQUEST", { message: "The body is not as /openapi.json says." });
