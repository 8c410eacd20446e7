/**
 * Messages that are no answers: of the agent by the tool `channel_send`, of a person by `svc send`. They go the same durable way as
 * answers, by the outbox.
 */
import { randomUUID } from "node:crypto";
import { type Channel, defineTool, type Json, SvcError, type Workspace } from "@svc/contract";
import { keysOfChat } from "@svc/kit";
import type { Delivery, FileContent } from "@svc/store";
import * as v from "valibot";
import type { CoreTool, CoreToolContext, PinnedCall } from "@svc/agent";
import { SENT_BY_PERSON, outgoingId } from "./outbox.ts";
import { attachedFile, type PinnedFile } from "./media/outgoing-files.ts";
import type { ChannelSendDeps } from "./types.ts";
import { outgoingRows } from "./outgoing-rows.ts";

type QueueDeps = Pick<ChannelSendDeps, "store" | "channels" | "redact" | "dispatcher" | "now">;

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

/** `deps` is called at every call: the tool is registered before there is a store. */
export function channelSendTool(deps: () => ChannelSendDeps): CoreTool {
  const tool = defineTool({
    name: "channel_send",
    description:
      "Sends a message, and files of the workspace, to a person on a chat channel: to those who have written to you, and to " +
      "those whom the owner has listed. Not needed to answer who is talking to you: your answer goes there by itself. It is " +
      "sent in the background and tried again when the platform is down; the result tells the message's id.",
    input,
    approval: "ask",
    lasting: Object.freeze({}),
    run: (message, context) => send(deps(), message, context as CoreToolContext),
  });
  const recall: CoreTool["recall"] = (turnId, callId) => {
    const rows = keptOf(deps(), turnId, callId);
    return rows.length > 0 ? { output: resultOf(rows) } : undefined;
  };
  const refuses: CoreTool["refuses"] = (given, { turnId, callId }) => {
    const { channel, to } = given as v.InferOutput<typeof input>;
    const isSaid = keptOf(deps(), turnId, callId).length > 0;
    return isSaid || !deps().channels.has(channel) ? undefined : refusalOf(deps(), channel, to);
  };
  const pin: CoreTool["pin"] = (given, call) => pinned(deps(), given as v.InferOutput<typeof input>, call);
  return { ...tool, recall, refuses, pin };
}

/** An approval is for the files as they are: the person sees their hashes, and a call with other files is refused. */
async function pinned(
  deps: ChannelSendDeps,
  { channel, files }: v.InferOutput<typeof input>,
  call: PinnedCall,
): Promise<{ files: Json[] } | undefined> {
  const target = deps.channels.get(channel);
  if (files.length === 0 || !target) return undefined;
  // What is queued already was approved; the files may have changed since.
  const before = keptOf(deps, call.turnId, call.callId).flatMap((delivery) => delivery.files);
  const found = before.length > 0 ? before : await attachedFiles(target, files, call);
  return { files: found.map(({ path, content }) => ({ path, ...content })) };
}

async function send(
  deps: ChannelSendDeps,
  said: v.InferOutput<typeof input>,
  { workspace, agent, turnId, callId, signal, pinned }: CoreToolContext,
): Promise<Json> {
  // A repeated call has the same result, even if the file, the channel or its limits have changed.
  const before = keptOf(deps, turnId, callId);
  if (before.length > 0) return resultOf(before);
  const approved = (pinned as { files: FileContent[] } | undefined)?.files;
  const sending = { workspace, agent, turnId, signal, approved, keyOf: (part: number) => keyOf(turnId, callId, part) };
  return resultOf(await queue(deps, said, sending));
}

const keyOf = (turnId: string, callId: string, part: number): string => `${turnId}:${callId}:${part}`;

/** The deliveries of the call: all of them, or none. */
function keptOf({ store }: ChannelSendDeps, turnId: string, callId: string): Delivery[] {
  const byKey = new Map(store.outbox.ofTurn(turnId).map((delivery) => [delivery.key, delivery]));
  const rows: Delivery[] = [];
  for (let part = 1; ; part += 1) {
    const delivery = byKey.get(keyOf(turnId, callId, part));
    if (!delivery) return rows;
    rows.push(delivery);
  }
}

/** The message is sent when all of its parts are. */
function resultOf(deliveries: readonly Delivery[]): Json {
  const [first, ...others] = deliveries;
  const { state } = deliveries.find((part) => part.state !== "sent") ?? first!;
  return { message: outgoingId(first!.n), state, ...(others.length > 0 && { parts: deliveries.length }) };
}

/**
 * `svc send`: to any target, since the lists of targets bind the agent and not the operator. Resolves with the ids
 * of its messages once all of it is on disk. Throws as `queue`.
 */
export async function sendByPerson(
  deps: QueueDeps,
  said: Said,
  sending: Pick<Sending, "workspace" | "agent" | "signal">,
): Promise<string[]> {
  const id = randomUUID();
  const deliveries = await queue(deps, said, { ...sending, keyOf: (part) => `${SENT_BY_PERSON}${id}:${part}` });
  return deliveries.map(({ n }) => outgoingId(n));
}

export interface Said {
  readonly channel: string;
  readonly to: string;
  readonly thread?: string | undefined;
  readonly text: string;
  /** Paths in the workspace. */
  readonly files: readonly string[];
}

interface Sending {
  readonly workspace: Workspace;
  /** Whose workspace it is. */
  readonly agent: string;
  readonly turnId?: string;
  /** The key of one of its messages, by its place from 1 on: a key is stored once. */
  readonly keyOf: (part: number) => string;
  /** Of each file, as a person approved it. */
  readonly approved?: readonly FileContent[] | undefined;
  readonly signal: AbortSignal;
}

/**
 * Resolves once all of it is on disk: a text in as many messages as the channel makes of it, then each file. Throws
 * TOOL_BAD_INPUT, PATH_*, STORE_*; then nothing is kept.
 */
async function queue(deps: QueueDeps, said: Said, sending: Sending): Promise<Delivery[]> {
  const { store, channels, redact, dispatcher, now } = deps;
  const { turnId, keyOf, approved, signal } = sending;
  const channel = channels.get(said.channel);
  if (!channel) throw new SvcError("TOOL_BAD_INPUT", noChannel([...channels.keys()]));
  const files = await attachedFiles(channel, said.files, sending);
  const changed = approved && files.find(({ content }, place) => content.sha256 !== approved[place]?.sha256);
  if (changed) throw new SvcError("TOOL_REFUSED", "A file of the message was changed after a person approved it.");
  const thread = said.thread === undefined ? {} : { thread: said.thread };
  const conversation = { channel: said.channel, id: said.to, ...thread };
  const rows = outgoingRows(channel, { conversation, text: redact(said.text), files, turnId, keyOf });
  if (rows.length === 0) throw new SvcError("TOOL_BAD_INPUT", "There is nothing to send: no text and no files.");
  signal.throwIfAborted();
  const deliveries = await store.write(() => store.outbox.add(rows, now()));
  dispatcher.wake(deliveries);
  return deliveries;
}

/** In their order. Throws as `attachedFile`. */
async function attachedFiles(
  { media }: Pick<Channel, "media">,
  paths: readonly string[],
  { workspace, agent }: Pick<Sending, "workspace" | "agent">,
): Promise<PinnedFile[]> {
  const files = [];
  for (const path of paths) files.push(await attachedFile({ workspace, agent, media }, path));
  return files;
}

const noChannel = (names: readonly string[]): string =>
  names.length === 0
    ? "No channel is in service."
    : `There is no channel of this name in service; there are: ${names.toSorted().join(", ")}.`;

/**
 * Whether the agent may write to a target by itself. Text from outside can talk it into anything, and the person who approves sees
 * only a number: so the config lists the targets, and people who wrote to the agent are allowed, too. Undefined: it may. Else the
 * sentence that says why not, and what the operator can do.
 */
function refusalOf(deps: ChannelSendDeps, channel: string, to: string): string | undefined {
  const { allowed, notification } = deps.targetsOf(channel);
  const listed = [...allowed, ...(notification === undefined ? [] : [notification])];
  if (allowed.includes("*") || listed.some((target) => isSame(target, to))) return undefined;
  const owner = deps.identity.channel(channel);
  if (spellingsOf(to).some((id) => deps.store.knownConversations.any(owner, keysOfChat({ channel, id }))))
    return undefined;
  return (
    `The agent may write on this channel to those who wrote to it, and to what channels_config.${channel}.allowed_targets lists; ` +
    "this target is neither. The owner can add it there."
  );
}

function isSame(listed: string, to: string): boolean {
  const [one, other] = [listed.trim(), to.trim()];
  if (one === other) return true;
  // Only where one of them surely is a number: another platform's ids are digits too, with a minus before them.
  const isNumber = one.startsWith("+") || other.startsWith("+");
  return isNumber && digitsOf(one) !== undefined && digitsOf(one) === digitsOf(other);
}

/** A number is one and the same with and without its plus, and however it is grouped. */
function spellingsOf(to: string): string[] {
  const id = to.trim();
  const digits = digitsOf(id);
  return digits === undefined ? [id] : [...new Set([id, digits, `+${digits}`])];
}

const digitsOf = (text: string): string | undefined =>
  /^\+?\d[\d .()/-]*$/.test(text) ? text.replaceAll(/\D/g, "") : undefined;
