/** One connection to the broker, from its beginning to its end. */
import { type FeatureContext, SvcError } from "@svc/contract";
import { unlessAborted, withTimeout } from "@svc/kit";
import { type IClientOptions, type IConnackPacket, type IPublishPacket, MqttClient } from "mqtt";
import type { Socket } from "node:net";
import { Duplex, Transform, type TransformCallback, pipeline } from "node:stream";
import type { Config } from "./config.ts";
import type { Deliveries, Message } from "./deliveries.ts";
import { openSocket, socketFailure } from "./line.ts";

const ANSWER_MS = 30_000;
const KEEPALIVE_SECS = 30;
/** Delay after an acknowledgement before pinging the broker to confirm it. */
const CONFIRM_MS = 1_000;

export interface ConnectionDeps extends Pick<FeatureContext<Config>, "config" | "clock" | "resolve" | "state"> {
  readonly clientId: string;
  readonly deliveries: Deliveries;
  /** The message is acknowledged when this resolves. `tooLarge`: bytes of a payload that was not read. */
  readonly handle: (message: Message, tooLarge: number | undefined) => Promise<void>;
  readonly onSubscribed: () => void;
}

/** Resolves when the signal ends it. Rejects when the connection ends, with CHANNEL_UNAUTHORIZED, REMOTE_* and what `handle` rejects with. */
export async function follow(deps: ConnectionDeps, signal: AbortSignal): Promise<void> {
  const socket = await openSocket(deps.config, deps, signal);
  const connection = new Connection(deps, socket);
  try {
    await unlessAborted(connection.subscribed(), signal);
    deps.onSubscribed();
    await unlessAborted(connection.ended, signal);
  } catch (error) {
    if (!signal.aborted) throw failureOf(error);
  } finally {
    await connection.end();
  }
}

class Connection {
  /** Rejects when it ends. */
  readonly ended: Promise<never>;
  readonly #deps: ConnectionDeps;
  readonly #client: MqttClient;
  readonly #fail: (error: unknown) => void;
  readonly #guard = new PacketGuard();
  readonly #connected: Promise<void>;
  #handled = 0;
  #handling: Promise<void> = Promise.resolve();
  /** Sequence of the last message whose acknowledgement was sent. */
  #acknowledged = 0;
  #asked = 0;
  #cancelConfirm: (() => void) | undefined;

  constructor(deps: ConnectionDeps, socket: Socket) {
    this.#deps = deps;
    const ended = Promise.withResolvers<never>();
    this.ended = ended.promise;
    this.ended.catch(() => undefined);
    this.#fail = (error) => ended.reject(failureOf(error));
    pipeline(socket, this.#guard, (error) => this.#fail(error ?? new SvcError("REMOTE_UNREACHABLE", ENDED)));
    const client = new MqttClient(() => joined(this.#guard, socket), optionsOf(deps));
    this.#client = client;
    const connected = Promise.withResolvers<void>();
    this.#connected = connected.promise;
    client.once("connect", ({ sessionPresent }: IConnackPacket) => {
      deps.deliveries.begin(sessionPresent).then(connected.resolve, this.#fail);
    });
    client.on("error", this.#fail);
    client.on("close", () => this.#fail(new SvcError("REMOTE_UNREACHABLE", ENDED)));
    // The library acknowledges the message, and reads the next one, when this calls back without an error.
    client.handleMessage = (packet, done) => {
      this.#handling = this.#handle(packet).then(() => done(), this.#fail);
    };
    client.on("packetsend", ({ cmd }) => {
      if (cmd === "pingreq") this.#asked = this.#acknowledged;
    });
    client.on("packetreceive", ({ cmd }) => {
      if (cmd === "pingresp") deps.deliveries.confirm(this.#asked).catch(this.#fail);
    });
  }

  /** Resolves once the broker has taken the subscriptions. */
  async subscribed(): Promise<void> {
    const { config, clock, state } = this.#deps;
    const error = (): Error => new SvcError("REMOTE_TIMEOUT", "The broker did not answer in time.");
    const subscribe = async (): Promise<void> => {
      await this.#connected;
      const before = topicsOf(await state.get(SUBSCRIBED));
      const old = before.filter((topic) => !config.topics.includes(topic));
      if (old.length > 0) await this.#client.unsubscribeAsync(old);
      await this.#client.subscribeAsync(config.topics, { qos: 1 });
      if (before.join("\n") !== config.topics.join("\n")) await state.set(SUBSCRIBED, JSON.stringify(config.topics));
    };
    await withTimeout({ clock, timeoutMs: ANSWER_MS, error }, () => Promise.race([subscribe(), this.ended]));
  }

  /** What is being committed is waited for; its acknowledgement may be lost, and it is known then. */
  async end(): Promise<void> {
    this.#cancelConfirm?.();
    await this.#handling;
    this.#client.on("error", () => undefined);
    this.#client.end(true);
    this.#guard.destroy();
  }

  async #handle({ topic, payload, retain, dup, messageId, qos }: IPublishPacket): Promise<void> {
    this.#handled += 1;
    const tooLarge = this.#guard.oversized.get(this.#handled);
    this.#guard.oversized.delete(this.#handled);
    await Promise.race([this.#connected, this.ended]);
    const { deliveries, handle } = this.#deps;
    const number = qos === 0 ? undefined : messageId;
    const bytes = typeof payload === "string" ? Buffer.from(payload) : payload;
    await handle({ topic, payload: bytes, retained: retain, repeated: dup, number }, tooLarge);
    this.#acknowledged = deliveries.sequence;
    if (this.#acknowledged > this.#asked) this.#confirmSoon();
  }

  #confirmSoon(): void {
    if (this.#cancelConfirm) return;
    this.#cancelConfirm = this.#deps.clock.after(CONFIRM_MS, () => {
      this.#cancelConfirm = undefined;
      if (this.#client.connected) this.#client.sendPing();
    });
  }
}

/** Its declared types know web streams only; Node joins its own too. */
const joined = (readable: NodeJS.ReadableStream, writable: NodeJS.WritableStream): Duplex =>
  Duplex.from({ readable, writable } as unknown as AsyncIterable<Buffer>);

const SUBSCRIBED = "subscribed";
const ENDED = "The broker ended the connection. Another client may use the same client_id.";

const topicsOf = (text: string | undefined): readonly string[] =>
  text === undefined ? [] : (JSON.parse(text) as readonly string[]);

const optionsOf = ({ config, clientId }: ConnectionDeps): IClientOptions => ({
  clientId,
  clean: false,
  protocolVersion: 4,
  protocolId: "MQTT",
  ...(config.username !== undefined && { username: config.username }),
  ...(config.password !== undefined && { password: config.password }),
  keepalive: KEEPALIVE_SECS,
  connectTimeout: ANSWER_MS,
  // The feature's loop reconnects, with back-off, on a new connection.
  reconnectPeriod: 0,
  resubscribe: false,
  queueQoSZero: false,
  timerVariant: "native",
});

function refusedTopics(): SvcError {
  return new SvcError("CHANNEL_UNAUTHORIZED", "The broker refuses a subscription of mqtt.topics.", {
    hint: "Allow the user to read these topics in the broker's access list.",
  });
}

/** Codes of CONNACK, by section 3.2.2.3 of MQTT 3.1.1. */
const REFUSALS: Readonly<Record<number, () => SvcError>> = {
  1: () => new SvcError("REMOTE_UNREACHABLE", "The broker does not speak MQTT 3.1.1."),
  2: () =>
    new SvcError("CHANNEL_UNAUTHORIZED", "The broker refuses the client_id.", { hint: "Set another one in [mqtt]." }),
  3: () => new SvcError("REMOTE_UNREACHABLE", "The broker is not available now."),
  4: () => unauthorized(),
  5: () => unauthorized(),
};

const unauthorized = (): SvcError =>
  new SvcError("CHANNEL_UNAUTHORIZED", "The broker refuses the user name or password.", {
    hint: "Correct username and password in [mqtt].",
  });

/** What the library throws when a subscription was answered by 128 has the answer with it. */
const isRefusedSubscription = (error: unknown): boolean =>
  (error as { packet?: { cmd?: unknown } } | undefined)?.packet?.cmd === "suback";

function failureOf(error: unknown): SvcError {
  if (isRefusedSubscription(error)) return refusedTopics();
  const { code } = (error ?? {}) as { code?: unknown };
  return (typeof code === "number" ? REFUSALS[code]?.() : undefined) ?? socketFailure(error);
}

// The bytes of a broker, before the library reads them: it would collect a packet of 256 MB in memory. A message whose payload is too large
// loses the payload on the way and keeps topic and number, so that it can be acknowledged and is not sent again for ever.

/** As much as a request to a procedure's path may have. */
export const MAX_PAYLOAD_BYTES = 1_048_576;
/** Every other packet is short. */
const MAX_OTHER_BYTES = 65_536;
const PUBLISH = 3;

export class PacketGuard extends Transform {
  /** Payload sizes that were too large, by the number of the PUBLISH packet, from 1. */
  readonly oversized = new Map<number, number>();
  #publishes = 0;
  /** Bytes of a packet whose beginning is not whole yet: at most 5 of the header, or those up to the payload. */
  #held = Buffer.alloc(0);
  /** Bytes of the current packet that go on as they are. */
  #pass = 0;
  #drop = 0;

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    try {
      this.#take(chunk);
      done();
    } catch (error) {
      done(error as Error);
    }
  }

  #take(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) {
      if (this.#pass > 0) {
        this.push(rest.subarray(0, this.#pass));
        const taken = Math.min(this.#pass, rest.length);
        this.#pass -= taken;
        rest = rest.subarray(taken);
      } else if (this.#drop > 0) {
        const dropped = Math.min(this.#drop, rest.length);
        this.#drop -= dropped;
        rest = rest.subarray(dropped);
      } else {
        rest = this.#begin(this.#held.length === 0 ? rest : Buffer.concat([this.#held, rest]));
      }
    }
  }

  /** At the beginning of a packet. Returns the bytes to read next; keeps bytes that can't be checked yet. */
  #begin(bytes: Buffer): Buffer {
    this.#held = Buffer.alloc(0);
    const header = headerOf(bytes);
    if (!header) return this.#hold(bytes);
    const { first, size, length } = header;
    const isPublish = first >> 4 === PUBLISH;
    if (isPublish && ((first >> 1) & 3) > 1) throw broken("a message with a QoS that was not subscribed to");
    if (!isPublish && length > MAX_OTHER_BYTES) throw broken("a packet that is too long");
    if (isPublish && length > MAX_PAYLOAD_BYTES) return this.#cut(bytes, first, size, length);
    if (isPublish) this.#publishes += 1;
    this.#pass = size + length;
    return bytes;
  }

  #cut(bytes: Buffer, first: number, size: number, length: number): Buffer {
    if (bytes.length < size + 2) return this.#hold(bytes);
    const numberBytes = ((first >> 1) & 3) === 0 ? 0 : 2;
    const headLength = 2 + bytes.readUInt16BE(size) + numberBytes;
    if (bytes.length < size + headLength) return this.#hold(bytes);
    this.#publishes += 1;
    if (length - headLength > MAX_PAYLOAD_BYTES) this.oversized.set(this.#publishes, length - headLength);
    else {
      this.#pass = size + length;
      return bytes;
    }
    this.push(Buffer.concat([Buffer.of(first), lengthBytes(headLength), bytes.subarray(size, size + headLength)]));
    this.#drop = length - headLength;
    return bytes.subarray(size + headLength);
  }

  #hold(bytes: Buffer): Buffer {
    // A copy: the chunk that it is a part of may be large.
    this.#held = Buffer.from(bytes);
    return bytes.subarray(bytes.length);
  }
}

/** Type and flags, and how many bytes follow. Undefined: more bytes are needed. */
function headerOf(bytes: Buffer): { first: number; size: number; length: number } | undefined {
  let length = 0;
  for (let at = 1; at < bytes.length; at += 1) {
    const byte = bytes[at]!;
    length += (byte & 127) * 128 ** (at - 1);
    if (byte < 128) return { first: bytes[0]!, size: at + 1, length };
    if (at === 4) throw broken("a packet without a length");
  }
  return undefined;
}

function lengthBytes(length: number): Buffer {
  const bytes: number[] = [];
  let rest = length;
  do {
    const byte = rest % 128;
    rest = Math.floor(rest / 128);
    bytes.push(rest > 0 ? byte | 128 : byte);
  } while (rest > 0);
  return Buffer.from(bytes);
}

const broken = (what: string): SvcError => new SvcError("REMOTE_UNREACHABLE", `The broker sent ${what}.`);
