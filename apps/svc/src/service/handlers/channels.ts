/** What `svc channels` asks for. */
import { type Json, SvcError, type VerificationState } from "@svc/contract";
import type { ControlHandlers } from "@svc/gateway/control";
import { channelList } from "../../channels/channel-list.ts";
import { channelIdOf } from "@svc/kernel";
import { findChannel } from "../../channels/find-channel.ts";
import { approversOf } from "../governance/channel-section.ts";
import { noApproversNote } from "../governance/no-approvers.ts";
import type { Service } from "../service.ts";

/** A platform that is asked answers in a second or two. */
const LONGEST_MS = 30_000;

export function channelHandlers(service: Service): ControlHandlers {
  const channelOf = (value: Json | undefined) => {
    const id = channelOfFeature(service, typeof value === "string" ? value : "");
    return { id, channel: findChannel(service, id) };
  };
  return {
    channels: () => ({ channels: channelList(service) as unknown as Json }),
    "channel-test": ({ body, signal }) => {
      const { channel } = channelOf(body["channel"]);
      if (!channel.check) throw new SvcError("CHANNEL_CANNOT", "This channel's platform can't be asked anything.");
      return reported(() => channel.check!(limited(signal)));
    },
    "channel-setup": ({ body, signal }) => {
      const { id, channel } = channelOf(body["channel"]);
      if (!channel.setup) throw new SvcError("CHANNEL_CANNOT", "This channel is set up on its platform; see its page.");
      const url = channelList(service).find((line) => line.id === id)?.callback_urls[0] ?? "";
      const { config } = service.generation;
      return reported(async () => {
        const says = await channel.setup!({ url }, limited(signal));
        return approversOf(config, id).length > 0 ? says : `${says}\n${noApproversNote(id)}`;
      });
    },
    "channel-link": async ({ body, signal }) => {
      const { channel } = channelOf(body["channel"]);
      const { linking } = channel;
      if (!linking) throw new SvcError("CHANNEL_CANNOT", "This channel has no account to link.");
      const step = body["step"] === "begin" ? "begin" : "state";
      return { ...(await linking[step](limited(signal))) };
    },
    "channel-verify": ({ body, signal }) => {
      const { channel } = channelOf(body["channel"]);
      const { verification } = channel;
      if (!verification) throw new SvcError("CHANNEL_CANNOT", "This channel has no devices to verify.");
      const { step, matches } = body;
      const until = limited(signal);
      if (step === "begin") return verifying(() => verification.begin(until));
      if (step === "state") return verifying(() => verification.state(until));
      if (step === "compare") return verifying(() => verification.compare(until));
      return verifying(() => verification.answer(matches === true, until));
    },
  };
}

/** A channel that several features may bring is named by one of them, too: `provider-a-web`. */
function channelOfFeature({ context }: Service, name: string): string {
  const feature = context.composition.features.find(({ id }) => id.replaceAll("-", "_") === name);
  return (feature && channelIdOf(feature)) ?? name;
}

const verifying = async (work: () => Promise<VerificationState>): Promise<Json> => (await work()) as unknown as Json;

const limited = (signal: AbortSignal): AbortSignal => AbortSignal.any([signal, AbortSignal.timeout(LONGEST_MS)]);

/** A platform's no is an answer, not a fault of the command. Anything but an `SvcError` is one of ours and goes on. */
async function reported(work: () => Promise<string>): Promise<Json> {
  try {
    return { ok: true, says: await work() };
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return { ok: false, code: error.code, error: error.message, hint: error.hint ?? null };
  }
}
