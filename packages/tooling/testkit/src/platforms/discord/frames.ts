/** What clients send over the gateway. https://docs.discord.com/developers/events/gateway-events#send-events */
import type { Json } from "@svc/contract";
import * as v from "valibot";

export const CLOSE = {
  unknownError: 4000,
  unknownOpcode: 4001,
  decodeError: 4002,
  notAuthenticated: 4003,
  authenticationFailed: 4004,
  alreadyAuthenticated: 4005,
  invalidSeq: 4007,
  rateLimited: 4008,
  sessionTimedOut: 4009,
  invalidShard: 4010,
  shardingRequired: 4011,
  invalidVersion: 4012,
  invalidIntents: 4013,
  disallowedIntents: 4014,
} as const;

export const OP = {
  dispatch: 0,
  heartbeat: 1,
  identify: 2,
  presence: 3,
  voice: 4,
  resume: 6,
  reconnect: 7,
  members: 8,
  invalidSession: 9,
  hello: 10,
  acknowledged: 11,
} as const;

const integer = v.pipe(v.number(), v.integer(), v.minValue(0));

const presence = v.strictObject({
  since: v.nullish(integer),
  activities: v.optional(v.array(v.unknown())),
  status: v.optional(v.string()),
  afk: v.optional(v.boolean()),
});

const IDENTIFY = v.strictObject({
  token: v.string(),
  properties: v.looseObject({ os: v.string(), browser: v.string(), device: v.string() }),
  intents: integer,
  compress: v.optional(v.boolean()),
  large_threshold: v.optional(v.pipe(integer, v.minValue(50), v.maxValue(250))),
  shard: v.optional(v.tuple([integer, v.pipe(integer, v.minValue(1))])),
  presence: v.optional(presence),
});

const RESUME = v.strictObject({ token: v.string(), session_id: v.string(), seq: integer });

export type Identify = v.InferOutput<typeof IDENTIFY>;
export type Resume = v.InferOutput<typeof RESUME>;

export type Frame =
  | { readonly op: "heartbeat"; readonly seq: number | null }
  | { readonly op: "identify"; readonly body: Identify }
  | { readonly op: "resume"; readonly body: Resume }
  | { readonly op: "other" };

const MAX_BYTES = 4096;

/** A number: the code that the connection is closed with. */
export function frameOf(data: Buffer): Frame | number {
  if (data.length > MAX_BYTES) return CLOSE.decodeError;
  let frame: { readonly op?: Json; readonly d?: Json };
  try {
    frame = JSON.parse(data.toString("utf8")) as typeof frame;
  } catch {
    return CLOSE.decodeError;
  }
  const { op, d } = frame ?? {};
  if (op === OP.heartbeat) {
    const isSeq = d === null || (typeof d === "number" && Number.isInteger(d) && d >= 0);
    return isSeq ? { op: "heartbeat", seq: d } : CLOSE.decodeError;
  }
  if (op === OP.identify) return v.is(IDENTIFY, d) ? { op: "identify", body: d } : CLOSE.decodeError;
  if (op === OP.resume) return v.is(RESUME, d) ? { op: "resume", body: d } : CLOSE.decodeError;
  const isKnown = op === OP.presence || op === OP.voice || op === OP.members;
  return isKnown ? { op: "other" } : CLOSE.unknownOpcode;
}

/** Bits that there are: https://docs.discord.com/developers/events/gateway#list-of-intents */
export const ALL_INTENTS = [...Array(17).keys(), 20, 21, 24, 25].reduce((bits, bit) => bits | (1 << bit), 0);
export const MESSAGE_CONTENT = 1 << 15;
