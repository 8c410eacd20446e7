/** The mode "websocket": one long connection after the other; events are stored in order, and acknowledged once they are on disk. */
import { type FeatureContext, type Inbound, type Json, SvcError } from "@svc/contract";
import { asFinal, checkFailureOf, fieldsOf, parseJson, platformCall, retry, textOf, unlessAborted } from "@svc/kit";
import type { Config } from "./config.ts";
import { type Reader, inboundOf } from "./events.ts";
import { problemOf } from "./api.ts";
import { connected } from "./line.ts";

interface Arrival {
  readonly inbound: Inbound | undefined;
  readonly acknowledge: () => void;
}

/** Sent again by the platform is better than held in memory. */
const MOST_WAITING = 2_000;
/** One commit for all that waits, up to this many. */
const MOST_AT_ONCE = 64;
/** After that the connection closes, and the platform delivers its events again. */
const BACKOFF = { firstMs: 500, longestMs: 8_000, maxTries: 6 };

export interface RunDeps {
  readonly context: FeatureContext<Config>;
  readonly reader: Reader;
  /** Asks the platform who the bot is. */
  readonly signIn: (signal: AbortSignal) => Promise<string>;
}

/** Throws FEATURE_FAILED for credentials that are refused, REMOTE_*, BUSY, STORE_*. Resolves when it is called off. */
export async function runConnected({ context, reader, signIn }: RunDeps, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const ending = new AbortController();
  const either = AbortSignal.any([signal, ending.signal]);
  const waiting: Arrival[] = [];
  let wake = (): void => undefined;
  const crowded = Promise.withResolvers<never>();
  crowded.promise.catch(() => undefined);
  const take = (payload: Parameters<typeof inboundOf>[0], acknowledge: () => void): void => {
    waiting.push({ inbound: inboundOf(payload, reader), acknowledge });
    if (waiting.length > MOST_WAITING) crowded.reject(new SvcError("BUSY", "Too many messages wait to be stored."));
    wake();
  };
  const storing = async (): Promise<never> => {
    for (;;) {
      either.throwIfAborted();
      if (waiting.length === 0) await unlessAborted(new Promise<void>((resolve) => (wake = resolve)), either);
      const taken = waiting.slice(0, MOST_AT_ONCE);
      await store(
        context,
        taken.flatMap(({ inbound }) => inbound ?? []),
        either,
      );
      waiting.splice(0, taken.length);
      for (const { acknowledge } of taken) acknowledge();
    }
  };
  try {
    const account = await signIn(either);
    const connection = await openConnection({ config: context.config, context, take }, either);
    try {
      context.log.info("the platform knows this channel", { account });
      const stored = storing();
      stored.catch(() => undefined);
      throw await Promise.race([connection.lost, crowded.promise, stored]);
    } finally {
      connection.close();
    }
  } catch (error) {
    if (!signal.aborted) throw asFinal(error);
  } finally {
    ending.abort(new SvcError("CANCELLED"));
    wake();
  }
}

/** Resolves once all are on disk. */
async function store(
  { receive, clock, log }: Pick<FeatureContext, "receive" | "clock" | "log">,
  messages: readonly Inbound[],
  signal: AbortSignal,
): Promise<void> {
  if (messages.length === 0) return;
  const onFailure = (error: unknown, retryInMs: number): void => {
    const reason = error instanceof SvcError ? error.code : "unknown";
    log.warn("messages could not be stored; will retry", { reason, retryInMs });
  };
  await retry(() => unlessAborted(receive(messages), signal), { ...BACKOFF, clock, signal, onFailure });
}

// One long connection: protobuf frames over a WebSocket, whose address the platform hands out. An event is acknowledged when the caller
// says so.
// https://open.larksuite.com/document/server-docs/event-subscription-guide/event-subscription-configure-/request-url-configuration-case

interface Connection {
  /** Resolves, never rejects, with why it is over. */
  readonly lost: Promise<SvcError>;
  /** Ends it. What was not acknowledged comes again, by another. */
  close(): void;
}

interface ConnectionDeps {
  readonly config: Pick<Config, "api_url" | "app_id" | "app_secret">;
  readonly context: Pick<FeatureContext, "clock" | "fetch" | "log" | "resolve">;
  /** Takes an event; `acknowledge` tells the platform that it is stored, and never throws. */
  readonly take: (payload: Json, acknowledge: () => void) => void;
}

/** Without a frame for this long the connection is dead: the platform answers every ping. */
const SILENCE_MS = 300_000;
const PING_MS = 120_000;
const LEAST_PING_MS = 1_000;
/** Events in several frames that are not complete yet, and bytes of all of them. */
const MOST_PARTIAL = 64;
const MOST_PARTIAL_BYTES = 16 * 1_048_576;
const MOST_FRAMES = 256;

/** Resolves once it is open. Rejects with CHANNEL_UNAUTHORIZED, REMOTE_*, ADDRESS_REFUSED. */
async function openConnection({ config, context, take }: ConnectionDeps, signal: AbortSignal): Promise<Connection> {
  const { url, pingMs } = await endpointOf(config, context, signal).catch((error: unknown) => {
    throw checkFailureOf(error);
  });
  const socket = await connected(url, context, signal);
  const { clock, log } = context;
  const lost = Promise.withResolvers<SvcError>();
  const service = Number(new URL(url).searchParams.get("service_id") ?? 0) | 0;
  const assemble = assembler();
  let heardMs = clock.monotonic();
  let everyMs = pingMs;
  let cancel = (): void => undefined;

  const end = (why: SvcError): void => {
    cancel();
    lost.resolve(why);
    socket.terminate();
  };
  const write = (frame: Frame): void => {
    if (socket.readyState === socket.OPEN) socket.send(writeFrame(frame), () => undefined);
  };
  const ping = (): void => {
    if (clock.monotonic() - heardMs >= SILENCE_MS) {
      return end(new SvcError("REMOTE_TIMEOUT", "The platform has said nothing on the long connection for 300 s."));
    }
    write({ seqId: 0n, logId: 0n, service, method: CONTROL, headers: [["type", "ping"]], payload: new Uint8Array() });
    cancel = clock.after(everyMs, ping);
  };
  const acknowledgerOf = (frame: Frame): (() => void) => {
    const startedMs = clock.monotonic();
    return () =>
      write({
        ...frame,
        headers: [...frame.headers, ["biz_rt", String(Math.max(0, Math.round(clock.monotonic() - startedMs)))]],
        payload: Buffer.from('{"code":200}'),
      });
  };
  socket.on("message", (data: Buffer, isBinary: boolean) => {
    heardMs = clock.monotonic();
    const frame = isBinary ? readFrame(data) : undefined;
    if (frame === undefined) return log.warn("a frame of the long connection can't be read");
    const type = headerIn(frame, "type");
    if (frame.method === CONTROL && type === "pong") everyMs = pingMsOf(parseJson(frame.payload)) ?? everyMs;
    if (frame.method !== DATA || (type !== "event" && type !== "card")) return;
    const payload = assemble(frame);
    if (payload !== undefined) take(payload, acknowledgerOf(frame));
  });
  socket.on("error", () => undefined);
  socket.on("close", () => end(new SvcError("REMOTE_UNREACHABLE", "The long connection to the platform has ended.")));
  ping();
  socket.resume();
  return {
    lost: lost.promise,
    close() {
      cancel();
      // Pending writes are sent, but don't wait half a minute for a platform that is gone.
      socket.close(1000);
      setImmediate(() => socket.terminate());
    },
  };
}

interface Endpoint {
  readonly url: string;
  readonly pingMs: number;
}

async function endpointOf(
  { api_url: base, app_id: AppID, app_secret: AppSecret }: ConnectionDeps["config"],
  { clock, fetch }: ConnectionDeps["context"],
  signal: AbortSignal,
): Promise<Endpoint> {
  const answer = await platformCall(fetch, {
    url: `${base}/callback/ws/endpoint`,
    headers: { locale: "en" },
    json: { AppID, AppSecret },
    nowMs: clock.now(),
    signal,
  });
  const { code, data } = fieldsOf(answer.json);
  if (code === 403 || code === 514) {
    throw new SvcError("CHANNEL_UNAUTHORIZED", `The platform refuses a long connection to this app (code ${code}).`, {
      hint: "Check App ID and App Secret, and choose the long connection under Events & Callbacks of the app.",
    });
  }
  if (code !== 0) throw problemOf(200, fieldsOf(answer.json));
  const url = textOf(fieldsOf(data)["URL"]);
  // An API reached over TLS must not downgrade the connection to plain text.
  const protocols = base.startsWith("https:") ? /^wss:$/ : /^wss?:$/;
  if (url === undefined || !URL.canParse(url) || !protocols.test(new URL(url).protocol)) {
    throw new SvcError("REMOTE_UNREACHABLE", "The platform told no address for a long connection.", {
      hint: "Check the channel's api_url.",
    });
  }
  return { url, pingMs: pingMsOf(fieldsOf(data)["ClientConfig"]) ?? PING_MS };
}

/** `PingInterval`: seconds. */
function pingMsOf(config: unknown): number | undefined {
  const { PingInterval: seconds } = fieldsOf(config);
  if (typeof seconds !== "number" || !(seconds > 0)) return undefined;
  return Math.min(PING_MS, Math.max(LEAST_PING_MS, seconds * 1000));
}

interface Partial {
  readonly frames: (Uint8Array | undefined)[];
  bytes: number;
}

/** Puts an event together that came in several frames. Undefined: not all of it has come, or it can't be read. */
function assembler(): (frame: Frame) => Json | undefined {
  const partial = new Map<string, Partial>();
  return (frame) => {
    const sum = Number(headerIn(frame, "sum") ?? 1);
    const seq = Number(headerIn(frame, "seq") ?? 0);
    if (sum === 1) return parseJson(frame.payload);
    const id = headerIn(frame, "message_id") ?? "";
    if (!Number.isInteger(sum) || sum < 1 || sum > MOST_FRAMES || !Number.isInteger(seq) || seq < 0 || seq >= sum)
      return undefined;
    const one = partial.get(id) ?? { frames: Array.from<Uint8Array | undefined>({ length: sum }), bytes: 0 };
    if (one.frames.length !== sum) return undefined;
    one.bytes += frame.payload.length;
    one.frames[seq] = frame.payload;
    partial.set(id, one);
    if (one.frames.every((part) => part !== undefined)) {
      partial.delete(id);
      return parseJson(Buffer.concat(one.frames as Uint8Array[]));
    }
    // The platform sends all of an event again that was not acknowledged.
    let bytes = [...partial.values()].reduce((total, each) => total + each.bytes, 0);
    for (const [oldest, each] of partial) {
      if (partial.size <= MOST_PARTIAL && bytes <= MOST_PARTIAL_BYTES) break;
      partial.delete(oldest);
      bytes -= each.bytes;
    }
    return undefined;
  };
}

// Frames of the long connection: protobuf messages `Frame` and `Header` of package `pbbp2`, as the platform's own clients speak
// them (https://github.com/larksuite/oapi-sdk-go, ws/pbbp2.proto):
//     message Header { required string key = 1; required string value = 2; }
//     message Frame {
//       required uint64 SeqID = 1;   required uint64 LogID = 2;  required int32 service = 3;  required int32 method = 4;
//       repeated Header headers = 5; optional string payload_encoding = 6; optional string payload_type = 7;
//       optional bytes payload = 8;  optional string LogIDNew = 9;
//     }

interface Frame {
  readonly seqId: bigint;
  readonly logId: bigint;
  readonly service: number;
  /** 0: control (ping, pong). 1: data. */
  readonly method: number;
  readonly headers: readonly (readonly [key: string, value: string])[];
  readonly payloadEncoding?: string;
  readonly payloadType?: string;
  readonly payload: Uint8Array;
  readonly logIdNew?: string;
}

const CONTROL = 0;
const DATA = 1;

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

/** More headers than any frame of the platform has. */
const MOST_HEADERS = 64;

/** Undefined for bytes that are no frame. */
export function readFrame(bytes: Uint8Array): Frame | undefined {
  const reader = new ProtobufReader(bytes);
  const frame: Writable<Frame> = {
    seqId: 0n,
    logId: 0n,
    service: 0,
    method: -1,
    headers: [],
    payload: new Uint8Array(),
  };
  const headers: [string, string][] = [];
  while (reader.isOpen) {
    const [field, type] = reader.tag();
    if (field >= 1 && field <= 4 && type === VARINT) {
      const value = reader.varint();
      if (field === 1) frame.seqId = value;
      else if (field === 2) frame.logId = value;
      else if (field === 3) frame.service = Number(BigInt.asIntN(32, value));
      else frame.method = Number(BigInt.asIntN(32, value));
    } else if (field >= 5 && field <= 9 && type === BYTES) {
      const value = reader.bytes();
      if (field === 5) headers.push(headerOf(value));
      else if (field === 6) frame.payloadEncoding = utf8Of(value);
      else if (field === 7) frame.payloadType = utf8Of(value);
      else if (field === 8) frame.payload = value;
      else frame.logIdNew = utf8Of(value);
    } else reader.skip(type);
  }
  if (reader.isBroken || headers.length > MOST_HEADERS || (frame.method !== CONTROL && frame.method !== DATA))
    return undefined;
  return { ...frame, headers };
}

function headerOf(bytes: Uint8Array): [string, string] {
  const reader = new ProtobufReader(bytes);
  const header: [string, string] = ["", ""];
  while (reader.isOpen) {
    const [field, type] = reader.tag();
    if ((field === 1 || field === 2) && type === BYTES) header[field - 1] = utf8Of(reader.bytes());
    else reader.skip(type);
  }
  return header;
}

export function writeFrame(frame: Frame): Uint8Array {
  const parts: Uint8Array[] = [
    ...number(1, frame.seqId),
    ...number(2, frame.logId),
    ...number(3, BigInt.asUintN(64, BigInt(frame.service))),
    ...number(4, BigInt.asUintN(64, BigInt(frame.method))),
    ...frame.headers.flatMap(([key, value]) => block(5, Buffer.concat([...text(1, key), ...text(2, value)]))),
    ...(frame.payloadEncoding === undefined ? [] : text(6, frame.payloadEncoding)),
    ...(frame.payloadType === undefined ? [] : text(7, frame.payloadType)),
    ...(frame.payload.length === 0 ? [] : block(8, frame.payload)),
    ...(frame.logIdNew === undefined ? [] : text(9, frame.logIdNew)),
  ];
  return Buffer.concat(parts);
}

const headerIn = ({ headers }: Pick<Frame, "headers">, name: string): string | undefined =>
  headers.find(([key]) => key === name)?.[1];

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

const utf8Of = (bytes: Uint8Array): string => Buffer.from(bytes).toString("utf8");

/** Reads as far as it can; what goes past the end, or is of an unknown wire type, breaks it and ends the reading. */
class ProtobufReader {
  isBroken = false;
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isOpen(): boolean {
    return !this.isBroken && this.#at < this.#bytes.length;
  }

  tag(): [field: number, type: number] {
    const tag = Number(this.varint() & 0xffff_ffffn);
    return [tag >>> 3, tag & 7];
  }

  varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) break;
      this.#at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    this.isBroken = true;
    return 0n;
  }

  bytes(): Uint8Array {
    const length = this.varint();
    if (this.isBroken || length > BigInt(this.#bytes.length - this.#at)) {
      this.isBroken = true;
      return new Uint8Array();
    }
    const start = this.#at;
    this.#at += Number(length);
    return this.#bytes.subarray(start, this.#at);
  }

  skip(type: number): void {
    if (type === VARINT) this.varint();
    else if (type === BYTES) this.bytes();
    else if (type === FIXED64) this.#at += 8;
    else if (type === FIXED32) this.#at += 4;
    else this.isBroken = true;
    if (this.#at > this.#bytes.length) this.isBroken = true;
  }
}

function varint(value: bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}

const number = (field: number, value: bigint): Uint8Array[] => [varint(BigInt(field << 3)), varint(value)];
const block = (field: number, bytes: Uint8Array): Uint8Array[] => [
  varint(BigInt((field << 3) | BYTES)),
  varint(BigInt(bytes.length)),
  bytes,
];
const text = (field: number, value: string): Uint8Array[] => block(field, Buffer.from(value));
