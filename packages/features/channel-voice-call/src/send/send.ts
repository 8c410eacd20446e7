/** Messages that go out: into the call that is going on, or by a call that is placed for them. */
import { type Channel, type OutgoingMessage, type Prompt, type Receipt, SvcError } from "@svc/contract";
import { stopped } from "../calls/call.ts";
import { numberOf } from "../platform/number.ts";
import { callOf, callWith } from "./live-call.ts";
import { replyOf, type Words, wordsOf } from "./message.ts";
import { placeCall, type PlaceParts } from "./place-call.ts";
import { sayInCall } from "./say-in-call.ts";

type Sender = (message: OutgoingMessage, prompt: Prompt | undefined, signal: AbortSignal) => Promise<Receipt>;

/**
 * An answer is said in its own call or not at all: nobody is rung up for it. What somebody decided to say, and what the config
 * says that its `notification_target` is told, places a call.
 */
export function messageSender(parts: PlaceParts): Sender {
  return async (message, prompt, signal) => {
    signal.throwIfAborted();
    if (parts.calls.isStopped) throw stopped();
    const words = await wordsOf(message, parts.config, prompt);
    // Nothing that can be heard, such as a line across the page.
    if (words.text === "") return {};
    const reply = replyOf(message.replyData);
    if (!reply) return toNumber(parts, message, words, signal);
    const { id, thread } = message.conversation;
    const call = await callOf(parts, reply.call, { id, isKnown: thread === undefined }, signal);
    await sayInCall(parts, call, words, signal);
    return {};
  };
}

async function toNumber(
  parts: PlaceParts,
  { conversation: { channel, id }, mayOpen, deliveryId }: OutgoingMessage,
  words: Words,
  signal: AbortSignal,
): Promise<Receipt> {
  const number = numberOf(id);
  const opened = number === id ? {} : { opened: { channel, id: number } };
  const wasPlaced = (await parts.placed.of(deliveryId)) !== undefined;
  const call = wasPlaced ? undefined : await callWith(parts, number, signal);
  if (call) {
    await sayInCall(parts, call, words, signal);
    return opened;
  }
  if (mayOpen !== true && !isTarget(parts, number)) throw noCall();
  const whyNot = wasPlaced ? undefined : parts.calls.restOf(number, words.goesOn, parts.clock.now());
  if (whyNot !== undefined) throw new SvcError("DELIVERY_REFUSED", whyNot);
  const sid = await placeCall(parts, number, words, signal);
  return { ...(sid !== undefined && { platformId: sid }), ...opened };
}

function isTarget({ config: { notification_target: target } }: PlaceParts, number: string): boolean {
  return target !== undefined && target.replaceAll(/[\s().-]/g, "") === number;
}

const noCall = (): SvcError =>
  new SvcError("DELIVERY_REFUSED", "There is no call with this number, and none is placed for an answer or a notice.", {
    hint: "channel_send and svc send place calls; questions and notices call notification_target.",
  });

export const asChannel = (send: Sender): Required<Pick<Channel, "send" | "prompts">> => ({
  send: (message, signal) => send(message, undefined, signal),
  prompts: { post: (message, prompt, signal) => send(message, prompt, signal) },
});
