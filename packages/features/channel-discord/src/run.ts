/** The channel's connection, as long as it lasts: what the gateway tells is taken in order, commands are answered at once. */
import { type FeatureContext, type Json, type Logger, type StateStore, SvcError } from "@svc/contract";
import { asFinal, checkFailureOf } from "@svc/kit";
import type { GatewayDispatchPayload } from "discord-api-types/v10";
import { gatewayUrl, openGateway } from "./gateway.ts";
import { type Event, intake, type IntakeDeps } from "./intake.ts";
import { type Interaction, interactionOf } from "./interactions.ts";
import { type Fields, fieldsOf, idOf, listOf } from "./protocol.ts";
import type { IdentifyPace, Rest } from "./rest.ts";

export interface RunDeps extends IntakeDeps {
  readonly context: Pick<FeatureContext, "clock" | "log" | "receive" | "resolve" | "state">;
  readonly pace: IdentifyPace;
}

/** More than that is better read again later than held in memory. */
const MOST_WAITING = 5_000;
const SAVE_MS = 60_000;

/** Throws FEATURE_FAILED, REMOTE_*, BUSY. Resolves when it is called off. */
export async function runGateway(parts: RunDeps, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const ending = new AbortController();
  const either = AbortSignal.any([signal, ending.signal]);
  const called = Promise.withResolvers<never>();
  called.promise.catch(() => undefined);
  const callOff = (): void => called.reject(signal.reason as Error);
  signal.addEventListener("abort", callOff, { once: true });
  try {
    await Promise.race([called.promise, connected(parts, either)]);
  } catch (error) {
    if (!signal.aborted) throw asFinal(checkFailureOf(error));
  } finally {
    signal.removeEventListener("abort", callOff);
    ending.abort(new SvcError("CANCELLED"));
    await parts.reading.save().catch(() => undefined);
  }
}

/** Rejects with why it is over, also when it is called off. */
async function connected(parts: RunDeps, signal: AbortSignal): Promise<never> {
  const { context, config, rest, pace } = parts;
  const url = await gatewayUrl(rest, signal);
  signal.throwIfAborted();
  const events = eventQueue<Event>(signal);
  const crowded = Promise.withResolvers<never>();
  crowded.promise.catch(() => undefined);
  const onDispatch = ({ t: type, d }: GatewayDispatchPayload): void => {
    const data = fieldsOf(d);
    if (type === "READY") void introduce(parts, data, signal);
    if (String(type) === "INTERACTION_CREATE") answered(parts, data, events, signal);
    else if (READ.has(String(type))) events.push({ type: String(type), data });
    if (events.length > MOST_WAITING) crowded.reject(new SvcError("BUSY", "Too many messages wait to be kept."));
  };
  const gateway = openGateway({ url, token: config.bot_token, context, pace, onDispatch });
  signal.addEventListener("abort", () => gateway.stop(), { once: true });
  const working = work(parts, events, signal);
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

/** An event stays in front until it is done with. */
async function work(parts: RunDeps, events: EventQueue<Event>, signal: AbortSignal): Promise<never> {
  const { clock } = parts.context;
  const handle = intake(parts);
  let savedMs = clock.monotonic();
  for (;;) {
    await handle(await events.first(), signal);
    events.shift();
    if (clock.monotonic() - savedMs < SAVE_MS) continue;
    savedMs = clock.monotonic();
    await parts.reading.save().catch(() => undefined);
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
