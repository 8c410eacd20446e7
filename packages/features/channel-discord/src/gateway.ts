/** The channel's gateway connection: handles events in order, and answers commands at once. */
import { type FeatureContext, type Json, type Logger, type StateStore, SvcError } from "@svc/contract";
import { asCheckFailure, asFinal, checkFailureOf } from "@svc/kit";
import type { GatewayDispatchPayload } from "discord-api-types/v10";
import { type Event, type IntakeDeps, intake } from "./intake.ts";
import { type Interaction, interactionOf } from "./interactions.ts";
import { type Fields, PORTAL, fieldsOf, idOf, listOf, numberOf, textOf } from "./protocol.ts";
import { API_VERSION, type IdentifyPace, type Rest } from "./rest.ts";
import {
  Encoding,
  type IContextFetchingStrategy,
  type SessionInfo,
  WebSocketShard,
  WebSocketShardStatus,
} from "@discordjs/ws";

export interface RunDeps extends IntakeDeps {
  readonly context: Pick<FeatureContext, "clock" | "log" | "receive" | "resolve" | "state">;
  readonly pace: IdentifyPace;
}

/** Beyond this the events are read again later, instead of held in memory. */
const MOST_WAITING = 5_000;
const SAVE_MS = 60_000;

/** Throws FEATURE_FAILED, REMOTE_*, BUSY. Resolves when it is called off. */
export async function runGateway(deps: RunDeps, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const ending = new AbortController();
  const either = AbortSignal.any([signal, ending.signal]);
  const called = Promise.withResolvers<never>();
  called.promise.catch(() => undefined);
  const callOff = (): void => called.reject(signal.reason as Error);
  signal.addEventListener("abort", callOff, { once: true });
  try {
    await Promise.race([called.promise, connected(deps, either)]);
  } catch (error) {
    if (!signal.aborted) throw asFinal(checkFailureOf(error));
  } finally {
    signal.removeEventListener("abort", callOff);
    ending.abort(new SvcError("CANCELLED"));
    await deps.reading.save().catch(() => undefined);
  }
}

/** Rejects with the reason of the end, also after an abort. */
async function connected(deps: RunDeps, signal: AbortSignal): Promise<never> {
  const { context, config, rest, pace } = deps;
  const url = await gatewayUrl(rest, signal);
  signal.throwIfAborted();
  const events = eventQueue<Event>(signal);
  const crowded = Promise.withResolvers<never>();
  crowded.promise.catch(() => undefined);
  const onDispatch = ({ t: type, d }: GatewayDispatchPayload): void => {
    const data = fieldsOf(d);
    if (type === "READY") void introduce(deps, data, signal);
    if (String(type) === "INTERACTION_CREATE") answered(deps, data, events, signal);
    else if (READ.has(String(type))) events.push({ type: String(type), data });
    if (events.length > MOST_WAITING) crowded.reject(new SvcError("BUSY", "Too many messages wait to be kept."));
  };
  const gateway = openGateway({ url, token: config.bot_token, context, pace, onDispatch });
  signal.addEventListener("abort", () => gateway.stop(), { once: true });
  const working = work(deps, events, signal);
  working.catch(() => undefined);
  return Promise.race([gateway.over, crowded.promise, working]);
}

/** https://docs.discord.com/developers/events/gateway-events#receive-events */
const READ: ReadonlySet<string> = new Set([
  "READY",
  "GUILD_CREATE",
  "GUILD_ROLE_CREATE",
  "GUILD_ROLE_UPDATE",
  "THREAD_CREATE",
  "THREAD_UPDATE",
  "THREAD_DELETE",
  "THREAD_LIST_SYNC",
  "THREAD_MEMBERS_UPDATE",
  "MESSAGE_CREATE",
  "MESSAGE_REACTION_ADD",
]);

/** An event stays first in the queue until it is handled. */
async function work(deps: RunDeps, events: EventQueue<Event>, signal: AbortSignal): Promise<never> {
  const { clock } = deps.context;
  const handle = intake(deps);
  let savedMs = clock.monotonic();
  for (;;) {
    await handle(await events.first(), signal);
    events.shift();
    if (clock.monotonic() - savedMs < SAVE_MS) continue;
    savedMs = clock.monotonic();
    await deps.reading.save().catch(() => undefined);
  }
}

function answered(
  { context, rest, isAllowed, listensTo }: RunDeps,
  data: ReturnType<typeof fieldsOf>,
  events: EventQueue<Event>,
  signal: AbortSignal,
): void {
  const interaction = interactionOf(data);
  if (interaction === undefined) return;
  const { guildId, inbound } = interaction;
  const isHere = guildId === undefined || listensTo(guildId);
  const refusal = !isHere ? NOT_HERE : isAllowed(inbound.sender) ? undefined : NOT_YOU;
  void answerAtOnce(rest, context.log, interaction, refusal, signal);
  if (refusal === undefined) events.push({ interaction });
}

const NOT_HERE = "This bot does not listen on this server.";
const NOT_YOU = "You are not among those whom this bot listens to.";

async function introduce(
  { context, config, rest }: RunDeps,
  data: ReturnType<typeof fieldsOf>,
  signal: AbortSignal,
): Promise<void> {
  const { log, state } = context;
  log.info("the platform knows this channel", { servers: Array.isArray(data["guilds"]) ? data["guilds"].length : 0 });
  const applicationId = idOf(fieldsOf(data["application"])["id"]);
  if (applicationId === undefined) return;
  try {
    await keepCommands(rest, applicationId, config.slash_commands, state, signal);
  } catch (error) {
    if (signal.aborted) return;
    const code = error instanceof SvcError ? error.code : "INTERNAL";
    log.warn("the menu of commands could not be registered; typed, they work all the same", { code });
  }
}

/** Events that wait for the one before them, until `signal` is aborted. */
interface EventQueue<Event> {
  push(event: Event): void;
  readonly length: number;
  /** Resolves with the first one, which stays until it is taken off. Rejects with the signal's reason. */
  first(): Promise<Event>;
  shift(): void;
}

function eventQueue<Event>(signal: AbortSignal): EventQueue<Event> {
  const events: Event[] = [];
  let wake = (): void => undefined;
  // Once for all of them: one for each wait would stay as long as the connection.
  signal.addEventListener("abort", () => wake(), { once: true });
  return {
    push(event) {
      events.push(event);
      wake();
    },
    get length() {
      return events.length;
    },
    async first() {
      while (events.length === 0 && !signal.aborted) await new Promise<void>((resolve) => (wake = resolve));
      signal.throwIfAborted();
      return events[0]!;
    },
    shift: () => void events.shift(),
  };
}

// What a command or a press is answered at once; the platform shows it as failed after three seconds.
// https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-response-object

/** `refusal`: seen by no one else. */
async function answerAtOnce(
  rest: Rest,
  log: Logger,
  { id, token, kind }: Interaction,
  refusal: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const json: Json =
    refusal === undefined
      ? { type: kind === "command" ? DEFERRED_MESSAGE : DEFERRED_UPDATE }
      : { type: MESSAGE, data: { content: refusal, flags: EPHEMERAL, allowed_mentions: { parse: [] } } };
  try {
    await rest.call({ path: `interactions/${id}/${token}/callback`, json }, signal);
  } catch (error) {
    // It is taken all the same: what answers it goes out as a message then.
    const code = error instanceof SvcError ? error.code : "INTERNAL";
    if (!signal.aborted) log.info("a command or button could not be answered at once", { code });
  }
}

const MESSAGE = 4;
const DEFERRED_MESSAGE = 5;
const DEFERRED_UPDATE = 6;
const EPHEMERAL = 1 << 6;

// The menu of commands. What they do is decided elsewhere: a command comes in as the text that someone could have written.
// https://docs.discord.com/developers/interactions/application-commands#bulk-overwrite-global-application-commands

/** Registers them where that is turned on and they are not there yet; takes them off again where it was turned off. */
async function keepCommands(
  rest: Rest,
  applicationId: string,
  isOn: boolean,
  state: StateStore,
  signal: AbortSignal,
): Promise<void> {
  const path = `applications/${applicationId}/commands`;
  const isOurs = (await state.get(REGISTERED)) === applicationId;
  if (!isOn) {
    if (!isOurs) return;
    await rest.call({ method: "PUT", path, json: [] }, signal);
    await state.delete(REGISTERED);
    return;
  }
  const there = listOf(await rest.call({ path }, signal)).map(fieldsOf);
  if (!isSame(there)) await rest.call({ method: "PUT", path, json: COMMANDS as unknown as Json }, signal);
  if (!isOurs) await state.set(REGISTERED, applicationId);
}

/** Commands of another program at the same bot are not ours to take off. */
const REGISTERED = "commands";

const CHAT_INPUT = 1;
const STRING = 3;

const COMMANDS = [
  { type: CHAT_INPUT, name: "new", description: "Begin a new conversation" },
  {
    type: CHAT_INPUT,
    name: "model",
    description: "Show the model that answers, or choose another",
    options: [{ type: STRING, name: "name", description: "Name of the model", required: false }],
  },
  { type: CHAT_INPUT, name: "status", description: "Show the state of this conversation" },
  { type: CHAT_INPUT, name: "stop", description: "Stop the answer that is being made" },
  { type: CHAT_INPUT, name: "help", description: "Show what can be said here" },
] as const;

/** The platform adds ids, versions and what else it has a standard for. */
const isSame = (there: readonly Fields[]): boolean =>
  there.length === COMMANDS.length &&
  COMMANDS.every((command) => {
    const one = there.find(({ name, type }) => name === command.name && (type ?? CHAT_INPUT) === CHAT_INPUT);
    const options = "options" in command ? command.options : [];
    const others = listOf(one?.["options"]).map(fieldsOf);
    return (
      one?.["description"] === command.description &&
      others.length === options.length &&
      options.every(({ type, name, description }, at) => {
        const other = others[at]!;
        return other["type"] === type && other["name"] === name && other["description"] === description;
      })
    );
  });

// One session with the platform's gateway. The library connects, sends heartbeats and resumes. This code decides where it may connect,
// how often, and when the connection has failed. https://docs.discord.com/developers/events/gateway

interface GatewayOptions {
  /** As the platform told it: `wss://…`. */
  readonly url: string;
  readonly token: string;
  readonly context: Pick<FeatureContext, "clock" | "resolve" | "log">;
  readonly pace: IdentifyPace;
  /** In the order of the platform. */
  readonly onDispatch: (payload: GatewayDispatchPayload) => void;
}

interface Gateway {
  /** Rejects with why it is over: FEATURE_FAILED, REMOTE_*. Never resolves. */
  readonly over: Promise<never>;
  /** At once; `over` stays as it is. */
  stop(): void;
}

/** Failed connections in a row. */
const MOST_ATTEMPTS = 3;
/** From a connection that was lost, or the first try, until events come again. */
const READY_MS = 60_000;
/** The platform's beats are 41 s apart, and the library gives up a connection that missed one; it may take a while to close. */
const SILENCE_MS = 150_000;

function openGateway({ url, token, context, pace, onDispatch }: GatewayOptions): Gateway {
  const { clock, resolve, log } = context;
  const { promise: over, reject } = Promise.withResolvers<never>();
  over.catch(() => undefined);
  const ending = new AbortController();
  let session: SessionInfo | null = null;
  let attempts = 0;
  let cancelLimit = (): void => undefined;

  const stop = (): void => {
    if (ending.signal.aborted) return;
    ending.abort();
    cancelLimit();
    end();
  };
  const fail = (error: SvcError): void => {
    if (!ending.signal.aborted) reject(error);
    stop();
  };
  const limit = (ms: number, message: string): void => {
    cancelLimit();
    if (!ending.signal.aborted) cancelLimit = clock.after(ms, () => fail(lost(message)));
  };
  const beginsAnew = (): void => limit(READY_MS, "The platform's gateway does not get ready.");
  const isAlive = (): void => limit(SILENCE_MS, "The platform's gateway says nothing any more.");
  const isReady = (): void => {
    attempts = 0;
    isAlive();
  };

  const strategy: IContextFetchingStrategy = {
    options: optionsOf(url, token),
    async retrieveSessionInfo() {
      if (shard.status !== WebSocketShardStatus.Idle) return session;
      // It is about to connect, and asks here first.
      return (await mayConnect()) ? session : never();
    },
    updateSessionInfo(_id, info) {
      session = info && { ...info, resumeURL: typeof info.resumeURL === "string" ? info.resumeURL : url };
    },
    async waitForIdentify(_id, signal) {
      await pace.pass(AbortSignal.any([signal, ending.signal])).catch(async (reason: unknown) => {
        // The library would identify even after a rejection, so never settle.
        if (ending.signal.aborted) await never();
        throw reason;
      });
    },
  };
  const { shard, end } = shardOf(strategy, () => fail(lost("The platform's gateway breaks its protocol.")));

  async function mayConnect(): Promise<boolean> {
    attempts += 1;
    if (attempts > MOST_ATTEMPTS) fail(lost("The platform's gateway can't be reached."));
    else await resolve(session?.resumeURL ?? url).catch((cause: unknown) => fail(refused(cause)));
    return !ending.signal.aborted;
  }

  shard.on("closed", ({ code }) => {
    const final = finalError(code);
    if (final !== undefined) return fail(final);
    log.debug("the gateway's connection is closed", { code });
    beginsAnew();
  });
  shard.on("ready", isReady);
  shard.on("resumed", isReady);
  shard.on("heartbeat", isAlive);
  shard.on("dispatch", ({ data }) => {
    if (!ending.signal.aborted) onDispatch(data);
  });
  beginsAnew();
  // The outcome arrives as events.
  shard.connect().catch(() => undefined);
  return { over, stop };
}

/** The library has no way to stop connecting. It waits for this promise for ever; both are garbage collected together. */
const never = (): Promise<never> => new Promise(() => undefined);

const optionsOf = (url: string, token: string): IContextFetchingStrategy["options"] => ({
  token,
  intents: INTENTS,
  gatewayInformation: {
    url,
    shards: 1,
    session_start_limit: { total: 1, remaining: 1, reset_after: 0, max_concurrency: 1 },
  },
  shardCount: 1,
  version: String(API_VERSION),
  encoding: Encoding.JSON,
  compression: null,
  identifyProperties: { os: process.platform, browser: "svc", device: "svc" },
  initialPresence: null,
  largeThreshold: 50,
  handshakeTimeout: 30_000,
  helloTimeout: 30_000,
  readyTimeout: 15_000,
});

const lost = (message: string): SvcError => new SvcError("REMOTE_UNREACHABLE", message);

/** An address that may not be connected to is the platform's fault, or of who stands in for it: it is tried again. */
const refused = (cause: unknown): SvcError =>
  cause instanceof SvcError && cause.code === "ADDRESS_REFUSED"
    ? new SvcError("REMOTE_UNREACHABLE", "The gateway's address, which the platform hands out, is refused.", {
        cause,
        ...(cause.hint !== undefined && { hint: cause.hint }),
      })
    : new SvcError("REMOTE_UNREACHABLE", "The gateway's name could not be resolved.", { cause });

/**
 * The library's connection, with fixes for its faults. It can't be closed while it connects. A malformed frame would end the
 * process, because the library does not handle the rejected promise. So would a connection without an answer: the library
 * removes its error listener from a socket that it abandons before it opens.
 */
interface Shard {
  readonly shard: WebSocketShard;
  /** Ends it at once, in any state, if its strategy prevents reconnecting. */
  end(): void;
}

/** Private members of the library's class, in the version that the catalog pins; shard.test.ts would miss each. */
interface Inside {
  connection: Connection | null;
  onMessage(data: unknown, isBinary: boolean): Promise<void>;
  internalConnect(): Promise<void>;
}

interface Connection {
  on(event: "error", listener: () => void): void;
  terminate(): void;
}

/** `onFailed`: what the platform sent can't be read, or it can't be connected to at all. */
export function shardOf(strategy: IContextFetchingStrategy, onFailed: () => void): Shard {
  const shard = new WebSocketShard(strategy, 0);
  const inside = shard as unknown as Inside;
  keepConnections(inside);
  const { onMessage, internalConnect } = inside;
  let isOver = false;
  inside.onMessage = async (data, isBinary) => {
    if (!isOver) await onMessage.call(shard, data, isBinary).catch(onFailed);
  };
  inside.internalConnect = () => internalConnect.call(shard).catch(onFailed);
  // Without a listener it would be thrown. That it could not connect shows in that it tries again.
  shard.on("error", () => undefined);
  return {
    shard,
    end() {
      isOver = true;
      const { connection } = inside;
      // 1000: the bot is shown as offline at once.
      shard.destroy({ code: 1000 }).catch(() => undefined);
      // By then the frame that closes it is written; a platform that is gone would be waited for half a minute.
      setImmediate(() => connection?.terminate());
    },
  };
}

/** Each has someone who listens, and the one before it is ended when the next one comes. */
function keepConnections(inside: Inside): void {
  let current = inside.connection;
  Object.defineProperty(inside, "connection", {
    get: () => current,
    set(next: Connection | null) {
      next?.on("error", () => undefined);
      if (next !== current) current?.terminate();
      current = next;
    },
  });
}

// Where the gateway is, and whether a session may begin.
// https://docs.discord.com/developers/events/gateway#get-gateway-bot

/** Throws CHANNEL_UNAUTHORIZED, REMOTE_*. */
async function gatewayUrl(rest: Rest, signal: AbortSignal): Promise<string> {
  const json = fieldsOf(await rest.call({ path: "gateway/bot" }, signal).catch(asCheckFailure));
  const url = textOf(json["url"]);
  if (url === undefined || !/^wss?:\/\//i.test(url)) {
    throw new SvcError("REMOTE_UNREACHABLE", "The platform does not tell where its gateway is.", {
      hint: "Check the channel's api_url.",
    });
  }
  const { remaining, reset_after: resetAfter } = fieldsOf(json["session_start_limit"]);
  // Anyone who begins more than a thousand in a day has the token taken away.
  if (numberOf(remaining) === 0) {
    throw new SvcError("REMOTE_UNREACHABLE", "The platform lets the bot begin no more sessions today.", {
      retryAfterMs: Math.max(1_000, numberOf(resetAfter) ?? 3_600_000),
    });
  }
  return url;
}

/**
 * The events that a connection gets. Message content must be turned on in the developer portal.
 * https://docs.discord.com/developers/events/gateway#list-of-intents
 */
const GUILDS = 1 << 0;
const GUILD_MESSAGES = 1 << 9;
const GUILD_MESSAGE_REACTIONS = 1 << 10;
const DIRECT_MESSAGES = 1 << 12;
const DIRECT_MESSAGE_REACTIONS = 1 << 13;
const MESSAGE_CONTENT = 1 << 15;

const INTENTS =
  GUILDS | GUILD_MESSAGES | GUILD_MESSAGE_REACTIONS | DIRECT_MESSAGES | DIRECT_MESSAGE_REACTIONS | MESSAGE_CONTENT;

// Why the platform ends a connection for good. After all other codes one may connect again.
// https://docs.discord.com/developers/topics/opcodes-and-status-codes#gateway-gateway-close-event-codes

/** FEATURE_FAILED: the channel stays off until its config changes. Undefined: it may be tried again. */
function finalError(closeCode: number): SvcError | undefined {
  const [message, hint] = FINAL.get(closeCode) ?? [];
  return message === undefined
    ? undefined
    : new SvcError("FEATURE_FAILED", `${message} (close code ${closeCode}).`, { ...(hint !== undefined && { hint }) });
}

const FINAL: ReadonlyMap<number, readonly [message: string, hint?: string]> = new Map([
  [
    4004,
    [
      "The platform refuses bot_token",
      "Set it to the token of the bot: in the developer portal under Bot, Reset Token.",
    ],
  ],
  [4010, ["The platform refuses this part of the bot's connections"]],
  [
    4011,
    [
      "The bot is on more servers than one connection may serve",
      "That are 2500. Take it off some of them: connections can't be shared out here.",
    ],
  ],
  [4012, ["The platform has given up this version of its gateway", "Is there a newer version of svc?"]],
  [4013, ["The platform does not know what the connection asks for", "Is there a newer version of svc?"]],
  [
    4014,
    [
      "The bot may not read messages: its Message Content Intent is off",
      `Turn on "Message Content Intent" at ${PORTAL}, under Bot, Privileged Gateway Intents; then: svc reload`,
    ],
  ],
]);
