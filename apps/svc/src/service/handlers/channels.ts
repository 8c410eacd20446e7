/** What `svc channels` and `svc send` ask for. */
import type { PlatformAnswer } from "@svc/api/control";
import { DEFAULT_AGENT } from "@svc/config";
import { ERRORS, SvcError } from "@svc/contract";
import { systemClock } from "@svc/kit/system-clock";
import { type MessageDetail, messageDetailJson, sendByPerson } from "@svc/messaging";
import { channelIdOf } from "@svc/runtime";
import type { Handlers } from "../control.ts";
import type { Service } from "../service.ts";
import { channelList, findChannel } from "../channels.ts";
import { approversOf, noApproversNote } from "../governance/channel-section.ts";

/** A platform that is asked answers in a second or two. */
const PLATFORM_MS = 30_000;

type Names = "channels" | "channel-test" | "channel-setup" | "channel-link" | "channel-verify" | "send";

export function channelHandlers(service: Service): Pick<Handlers, Names> {
  const channelOf = (name: string) => {
    const id = channelOfFeature(service, name);
    return { id, channel: findChannel(service, id) };
  };
  return {
    ...sendHandlers(service),
    channels: () => ({ channels: channelList(service) }),
    "channel-test": ({ body, signal }) => {
      const { channel } = channelOf(body.channel);
      if (!channel.check) throw new SvcError("CHANNEL_CANNOT", "This channel's platform can't be asked anything.");
      return reported(() => channel.check!(limited(signal)));
    },
    "channel-setup": ({ body, signal }) => {
      const { id, channel } = channelOf(body.channel);
      if (!channel.setup) throw new SvcError("CHANNEL_CANNOT", "This channel is set up on its platform; see its page.");
      const url = channelList(service).find((line) => line.id === id)?.callback_urls[0] ?? "";
      const { config } = service.generation;
      return reported(async () => {
        const says = await channel.setup!({ url }, limited(signal));
        return approversOf(config, id).length > 0 ? says : `${says}\n${noApproversNote(id)}`;
      });
    },
    "channel-link": ({ body, signal }) => {
      const { channel } = channelOf(body.channel);
      const { linking } = channel;
      if (!linking) throw new SvcError("CHANNEL_CANNOT", "This channel has no account to link.");
      return linking[body.step](limited(signal));
    },
    "channel-verify": ({ body, signal }) => {
      const { channel } = channelOf(body.channel);
      const { verification } = channel;
      if (!verification) throw new SvcError("CHANNEL_CANNOT", "This channel has no devices to verify.");
      const { step, matches } = body;
      const until = limited(signal);
      return step === "answer" ? verification.answer(matches, until) : verification[step](until);
    },
  };
}

/** A channel that several features may bring is named by one of them, too: `provider-a-web`. */
function channelOfFeature({ context }: Service, name: string): string {
  const feature = context.composition.features.find(({ id }) => id.replaceAll("-", "_") === name);
  return (feature && channelIdOf(feature)) ?? name;
}

const limited = (signal: AbortSignal): AbortSignal => AbortSignal.any([signal, AbortSignal.timeout(PLATFORM_MS)]);

/** A platform's no is an answer, not a fault of the command. Anything but an `SvcError` is one of ours and goes on. */
async function reported(work: () => Promise<string>): Promise<PlatformAnswer> {
  try {
    return { ok: true, says: await work() };
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return { ok: false, code: error.code, error: error.message, hint: error.hint ?? null };
  }
}

/** A platform that is well has taken it by then. */
const SHORT_MS = 5_000;
/** With `--wait`. */
const LONG_MS = 120_000;
const LOOK_AGAIN_MS = 50;

function sendHandlers(service: Service): Pick<Handlers, "send"> {
  return {
    send: async ({ body: { channel, conversation: to, thread, text, files, wait }, signal }) => {
      if (wait && !service.isDaemon)
        throw new SvcError("NOT_RUNNING", undefined, { hint: "Start it with: svc daemon" });
      const { messages, why } = await sendFor(service, { channel, to, thread, text, files }, wait, signal);
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
