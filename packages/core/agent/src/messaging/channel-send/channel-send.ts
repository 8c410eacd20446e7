/** `channel_send`: a message of the agent's own, to whoever it is meant for, by the same durable way as its answers. */
import { defineTool, type Json } from "@svc/contract";
import type { Delivery, FileContent } from "@svc/store";
import * as v from "valibot";
import type { CoreTool, CoreToolContext, PinnedCall } from "../../tools/core-tool-context.ts";
import { outgoingId } from "../message-id.ts";
import { attachedFiles, queue, type QueueParts } from "./queue.ts";
import { refusalOf, type TargetParts } from "./targets.ts";

export type ChannelSendParts = QueueParts & TargetParts;

const MAX_TEXT_CHARS = 65_536;
const MAX_FILES = 10;

const id = (description: string) =>
  v.pipe(v.string(), v.trim(), v.nonEmpty(), v.maxLength(512), v.description(description));

const input = v.strictObject({
  channel: id("Name of the channel, as in the config."),
  to: id("Who or where: the id that the platform knows the chat, room, number or address by."),
  thread: v.optional(id("Thread in it, where the platform has threads.")),
  text: v.pipe(
    v.string(),
    v.maxLength(MAX_TEXT_CHARS),
    v.description("What to say. A long text becomes several messages. May be empty when there are files."),
  ),
  files: v.optional(
    v.pipe(
      v.array(v.pipe(v.string(), v.nonEmpty(), v.maxLength(4096))),
      v.maxLength(MAX_FILES),
      v.description("Paths of files in the workspace to send along."),
    ),
    [],
  ),
});

/** `parts` is asked at every call: the tool is registered before there is a store. */
export function channelSendTool(parts: () => ChannelSendParts): CoreTool {
  const tool = defineTool({
    name: "channel_send",
    description:
      "Sends a message, and files of the workspace, to somebody on a chat channel: to those who have written to you, and to " +
      "those whom the owner has listed. Not needed to answer who is talking to you: your answer goes there by itself. It is " +
      "sent in the background and tried again when the platform is down; the result tells the message's id.",
    input,
    approval: "ask",
    lasting: Object.freeze({}),
    run: (message, context) => send(parts(), message, context as CoreToolContext),
  });
  const recall: CoreTool["recall"] = (turnId, callId) => {
    const kept = keptOf(parts(), turnId, callId);
    return kept.length > 0 ? { output: told(kept) } : undefined;
  };
  const refuses: CoreTool["refuses"] = (given, { turnId, callId }) => {
    const { channel, to } = given as v.InferOutput<typeof input>;
    const isSaid = keptOf(parts(), turnId, callId).length > 0;
    return isSaid || !parts().channels.has(channel) ? undefined : refusalOf(parts(), channel, to);
  };
  const pin: CoreTool["pin"] = (given, call) => pinned(parts(), given as v.InferOutput<typeof input>, call);
  return { ...tool, recall, refuses, pin };
}

/** A yes is to the files as they are, so the person sees what tells them from others, and a call with others is refused. */
async function pinned(
  parts: ChannelSendParts,
  { channel, files }: v.InferOutput<typeof input>,
  call: PinnedCall,
): Promise<{ files: Json[] } | undefined> {
  const target = parts.channels.get(channel);
  if (files.length === 0 || !target) return undefined;
  // What is queued already was approved: the files may be others by now.
  const before = keptOf(parts, call.turnId, call.callId).flatMap((delivery) => delivery.files);
  const found = before.length > 0 ? before : await attachedFiles(target, files, call);
  return { files: found.map(({ path, content }) => ({ path, ...content })) };
}

async function send(
  parts: ChannelSendParts,
  said: v.InferOutput<typeof input>,
  { workspace, agent, turnId, callId, signal, pinned }: CoreToolContext,
): Promise<Json> {
  // Made before, it is what it is, whatever became of the file, the channel or its limits since.
  const before = keptOf(parts, turnId, callId);
  if (before.length > 0) return told(before);
  const approved = (pinned as { files: FileContent[] } | undefined)?.files;
  const saying = { workspace, agent, turnId, signal, approved, keyOf: (part: number) => keyOf(turnId, callId, part) };
  return told(await queue(parts, said, saying));
}

const keyOf = (turnId: string, callId: string, part: number): string => `${turnId}:${callId}:${part}`;

/** What the call has put into the outbox: all of it, or nothing. */
function keptOf({ store }: ChannelSendParts, turnId: string, callId: string): Delivery[] {
  const byKey = new Map(store.outbox.ofTurn(turnId).map((delivery) => [delivery.key, delivery]));
  const kept: Delivery[] = [];
  for (let part = 1; ; part += 1) {
    const delivery = byKey.get(keyOf(turnId, callId, part));
    if (!delivery) return kept;
    kept.push(delivery);
  }
}

/** It is sent when all of its parts are. */
function told(deliveries: readonly Delivery[]): Json {
  const [first, ...others] = deliveries;
  const { state } = deliveries.find((part) => part.state !== "sent") ?? first!;
  return { message: outgoingId(first!.n), state, ...(others.length > 0 && { parts: deliveries.length }) };
}
