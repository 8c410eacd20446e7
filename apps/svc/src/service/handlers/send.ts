/** What `svc send` asks for: a message of the person's own, by the same durable way as what the agent says. */
import { mailDetailJson, type MailDetail, sendByPerson } from "@svc/agent";
import { type Json, SvcError } from "@svc/contract";
import type { ControlHandlers } from "@svc/gateway/control";
import { DEFAULT_AGENT, systemClock } from "@svc/kernel";
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
      return { messages: messages.map(mailDetailJson), why_waiting: why ?? null };
    },
  };
}

interface Sent {
  readonly messages: readonly MailDetail[];
  /** Why the channel sends nothing now. */
  readonly why: string | undefined;
}

/** Throws CHANNEL_*, STORE_*. */
export async function sendFor(
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
): Promise<MailDetail[]> {
  const { mailbox } = service.messaging;
  const untilMs = systemClock.monotonic() + (isPatient ? LONG_MS : SHORT_MS);
  const isSettled = ({ state, attempts }: MailDetail): boolean => state !== "waiting" || (!isPatient && attempts > 0);
  for (;;) {
    const messages = ids.map((id) => mailbox.show(id));
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
