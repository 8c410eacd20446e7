/** The channel's connection, as long as it lasts: what the gateway tells is taken in order, commands are answered at once. */
import { type FeatureContext, SvcError } from "@svc/contract";
import { asFinal, checkFailureOf } from "@svc/kit";
import type { GatewayDispatchPayload } from "discord-api-types/v10";
import { fieldsOf } from "../api/fields.ts";
import { idOf } from "../api/snowflake.ts";
import { interactionOf } from "../inbound/interaction.ts";
import { keepCommands } from "./commands.ts";
import { type EventQueue, eventQueue } from "./event-queue.ts";
import { answerAtOnce } from "./first-answer.ts";
import { openGateway } from "./gateway.ts";
import { gatewayUrl } from "./gateway-info.ts";
import type { IdentifyPace } from "./identify-pace.ts";
import { type Event, intake, type IntakeParts } from "./intake.ts";

export interface RunParts extends IntakeParts {
  readonly context: Pick<FeatureContext, "clock" | "log" | "receive" | "resolve" | "state">;
  readonly pace: IdentifyPace;
}

/** More than that is better read again later than held in memory. */
const MOST_WAITING = 5_000;
const SAVE_MS = 60_000;

/** Throws FEATURE_FAILED, REMOTE_*, BUSY. Resolves when it is called off. */
export async function runGateway(parts: RunParts, signal: AbortSignal): Promise<void> {
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
async function connected(parts: RunParts, signal: AbortSignal): Promise<never> {
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
async function work(parts: RunParts, events: EventQueue<Event>, signal: AbortSignal): Promise<never> {
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
  { context, rest, isAllowed, listensTo }: RunParts,
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
  { context, config, rest }: RunParts,
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
