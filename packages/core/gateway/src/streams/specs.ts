/** The routes of streams as data. */
import * as v from "valibot";
import type { RouteSpec } from "../routes/spec.ts";

const LAST_EVENT_ID = v.optional(
  v.pipe(v.string(), v.description("Id of the last event that the caller has: what came after it is told first.")),
);

export const EVENT_STREAM_TYPE = "text/event-stream; charset=utf-8";

export const EVENTS: RouteSpec = {
  method: "GET",
  path: "/api/events",
  access: "read",
  summary: "Tells events as they happen (server-sent events).",
  details:
    'The data of each is {"id","type","timestamp","payload"}; the guide\'s page on events lists the types. An operator ' +
    "is told all of them; a token that may only read, those of its own turns, of runs and of channels' health. Who is " +
    "told events-dropped has missed some, and reads anew what it shows.",
  headers: { "Last-Event-ID": LAST_EVENT_ID },
  answers: {
    200: { description: "The stream. It ends when the service stops.", body: v.string(), type: EVENT_STREAM_TYPE },
  },
  errors: ["DRAINING", "BUSY"],
};

export const SOCKET: RouteSpec = {
  method: "GET",
  path: "/ws",
  access: "connect",
  summary: "Opens a WebSocket: the same events, and chat.",
  details:
    "Offer the protocol svc.v1, and beside it bearer.<token> where no Authorization header can be sent. Events are text " +
    'frames as on /api/events. The client may send {"type":"message","content","session_id"?}, answered by a frame ' +
    '{"type":"reply","response","model","session_id"} or {"type":"error","code","error"}, for operators with "fix" and "said", and once ' +
    '{"type":"resume","last_event_id"?}. Messages count for the limit of POST /webhook.',
  headers: {
    "Sec-WebSocket-Protocol": v.optional(
      v.pipe(v.string(), v.description("svc.v1, and where needed bearer.<token> or csrf.<value>.")),
    ),
    "Last-Event-ID": LAST_EVENT_ID,
  },
  answers: { 101: { description: "It is open." } },
  errors: ["UPGRADE_REQUIRED", "DRAINING", "BUSY", "INTERNAL"],
};
