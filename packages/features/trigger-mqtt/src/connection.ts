/** One connection to the broker, from its beginning to its end. */
import { type FeatureContext, SvcError } from "@svc/contract";
import { unlessAborted, withTimeout } from "@svc/kit";
import { type IClientOptions, type IConnackPacket, type IPublishPacket, MqttClient } from "mqtt";
import type { Socket } from "node:net";
import { Duplex, pipeline } from "node:stream";
import type { Config } from "./config.ts";
import type { Deliveries, Message } from "./deliveries.ts";
import { PacketGuard } from "./packet-guard.ts";
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
