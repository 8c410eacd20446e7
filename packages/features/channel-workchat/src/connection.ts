/**
 * One long connection: protobuf frames over a WebSocket, whose address the platform hands out. An event is acknowledged when the
 * caller says so. https://open.larksuite.com/document/server-docs/event-subscription-guide/event-subscription-configure-/request-url-configuration-case
 */
import { type FeatureContext, type Json, SvcError } from "@svc/contract";
import { checkFailureOf, fieldsOf, parseJson, platformCall, textOf } from "@svc/kit";
import { problemOf } from "./api.ts";
import type { Config } from "./config.ts";
import { connected } from "./line.ts";
import { CONTROL, DATA, type Frame, headerIn, readFrame, writeFrame } from "./frames.ts";

export interface Connection {
  /** Resolves, never rejects, with why it is over. */
  readonly lost: Promise<SvcError>;
  /** Ends it. What was not acknowledged comes again, by another. */
  close(): void;
}

export interface ConnectionDeps {
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
export async function openConnection(
  { config, context, take }: ConnectionDeps,
  signal: AbortSignal,
): Promise<Connection> {
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
