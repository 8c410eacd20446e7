/** What `svc send` asks for: a message of the person's own, by the same durable way as what the agent says. */
import { messageDetailJson, type MessageDetail, sendByPerson } from "@svc/messaging";
import { ERRORS, type Json, SvcError } from "@svc/contract";
import type { ControlHandlers } from "@svc/gateway/control";
import { DEFAULT_AGENT } from "@svc/config";
import { systemClock } from "@svc/kit/system-clock";
import { findChannel } from "../../channels/find-channel.ts";
import type { Service } from "../service.ts";
import { text } from "./fields.ts";

/** A platform that is well has taken it by then. */
const SHORT_MS = 5_000;
/** With `--wait`. */
const LONG_MS = 120_000;
const LOOK_AGAIN_MS = 50;

export function sendHandlers(service: Service): ControlHandlers {
  return {
    send: async ({ body, signal }) => {
      const channel = text(body["channel"]) ?? "";
      const isPatient = body["wait"] === true;
      if (isPatient && !service.isDaemon)
        throw new SvcError("NOT_RUNNING", undefined, { hint: "Start it with: svc daemon" });
      const said = {
        channel,
        to: text(body["conversation"]) ?? "",
        thread: text(body["thread"]),
        text: text(body["text"]) ?? "",
        files: textsOf(body["files"]),
      };
      const { messages, why } = await sendFor(service, said, isPatient, signal);
      return { messages: messages.map(messageDetailJson), why_waiting: why ?? null };
    },
  };
}

interface Sent {
  readonly messages: readonly MessageDetail[];
  /** Why the channel sends nothing now. */
  readonly why: string | undefined;
}

/** What a person who set up a channel sees in the chat. */
const TEST_MESSAGE = "A test from svc: this channel works.";

/** Throws CHANNEL_*, STORE_*; also for a channel that is not in service: a test that comes days later would be of no use. */
export async function sendTest(
  service: Service,
  { channel, to }: { readonly channel: string; readonly to: string },
  signal: AbortSignal,
): Promise<{ readonly state: string; readonly error: string | null; readonly hint: string | null }> {
  findChannel(service, channel);
  const why = whyWaiting(service, channel);
  if (why !== undefined) {
    throw new SvcError("CHANNEL_DOWN", `No test was sent: ${why}`, { hint: "Correct its settings, then test again." });
  }
  const said = { channel, to, thread: undefined, text: TEST_MESSAGE, files: [] };
  const { messages, why: failed } = await sendFor(service, said, false, signal);
  const [message] = messages;
  if (message?.state === "sent") return { state: "sent", error: null, hint: null };
  const failure = message && service.messaging.failureOf(message.id);
  const { lifecycle, generation } = service;
  const owner = generation.registry.channelOwners.get(channel);
  // It may wait behind earlier ones to the same conversation, and was not tried yet.
  const reason = lifecycle.features().find(({ id }) => id === owner)?.reason ?? "The platform has not answered yet.";
  const byCode = message?.error ? ERRORS[message.error].sentence : reason;
  return {
    state: message?.state ?? "waiting",
    error: failed ?? failure?.message ?? byCode,
    hint: failure?.hint ?? (message?.state === "dead" ? REFUSED : WAITS),
  };
}

const REFUSED = "Check who it was sent to: most platforms let a bot write only to people who wrote to it first.";
const WAITS =
  "It stays in the outbox and is tried again. Check the channel's settings and the network of this machine.";

/** Throws CHANNEL_*, STORE_*. */
async function sendFor(
  service: Service,
  said: Parameters<typeof sendByPerson>[1],
  isPatient: boolean,
  signal: AbortSignal,
): Promise<Sent> {
  findChannel(service, said.channel);
  const { workspace } = service.generation.agents.profiles.get(DEFAULT_AGENT)!.environment;
  const ids = await sendByPerson(service.messaging.channelSend, said, { workspace, agent: DEFAULT_AGENT, signal });
  const messages = await settled(service, ids, isPatient, signal);
  return { messages, why: whyWaiting(service, said.channel) };
}

const textsOf = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];

/**
 * As they are when none of them waits any more; without patience, when it is known that one has to wait. Whoever goes away
 * meanwhile, they are sent.
 */
async function settled(
  service: Service,
  ids: readonly string[],
  isPatient: boolean,
  signal: AbortSignal,
): Promise<MessageDetail[]> {
  const { messageAdmin } = service.messaging;
  const untilMs = systemClock.monotonic() + (isPatient ? LONG_MS : SHORT_MS);
  const isSettled = ({ state, attempts }: MessageDetail): boolean =>
    state !== "waiting" || (!isPatient && attempts > 0);
  for (;;) {
    const messages = ids.map((id) => messageAdmin.show(id));
    if (messages.every(isSettled) || messages.some((mail) => whyWaiting(service, mail.channel) !== undefined))
      return messages;
    if (signal.aborted || systemClock.monotonic() >= untilMs) return messages;
    await systemClock.sleep(LOOK_AGAIN_MS, signal).catch(() => undefined);
  }
}

/** Undefined: it is up to the platform. */
function whyWaiting({ isDaemon, lifecycle, generation: { registry } }: Service, channel: string): string | undefined {
  if (!isDaemon) return "no daemon runs; the next start sends it";
  const owner = registry.channelOwners.get(channel);
  const status = lifecycle.features().find(({ id }) => id === owner);
  return status?.state === "failed"
    ? `the channel is not in service: ${status.reason ?? "no reason given"}`
    : undefined;
}
