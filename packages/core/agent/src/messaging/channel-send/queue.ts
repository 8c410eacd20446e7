/** What somebody decided to say, into the outbox: the tool `channel_send`, and `svc send`. */
import { type Channel, SvcError, type Workspace } from "@svc/contract";
import type { Delivery, FileContent, Store } from "@svc/store";
import type { OutboxDispatcher } from "../outbox.ts";
import { attachedFile, type PinnedFile } from "./attached-file.ts";
import { outgoingRows } from "./outgoing-rows.ts";

export interface QueueParts {
  readonly store: Pick<Store, "outbox" | "write">;
  /** Those in force now. */
  readonly channels: ReadonlyMap<string, Channel>;
  /** Takes the configured secrets out of the text. */
  readonly redact: (text: string) => string;
  readonly dispatcher: Pick<OutboxDispatcher, "wake">;
  readonly now: () => number;
}

export interface Said {
  readonly channel: string;
  readonly to: string;
  readonly thread?: string | undefined;
  readonly text: string;
  /** Paths in the workspace. */
  readonly files: readonly string[];
}

export interface Saying {
  readonly workspace: Workspace;
  /** Whose workspace it is. */
  readonly agent: string;
  readonly turnId?: string;
  /** Names one of its messages, by its place from 1 on: kept once, whoever says it again. */
  readonly keyOf: (part: number) => string;
  /** What a person has approved of each file. */
  readonly approved?: readonly FileContent[] | undefined;
  readonly signal: AbortSignal;
}

/**
 * Resolves once all of it is on disk: a text in as many messages as the channel makes of it, then each file. Throws
 * TOOL_BAD_INPUT, PATH_*, STORE_*; then nothing is kept.
 */
export async function queue(parts: QueueParts, said: Said, saying: Saying): Promise<Delivery[]> {
  const { store, channels, redact, dispatcher, now } = parts;
  const { turnId, keyOf, approved, signal } = saying;
  const channel = channels.get(said.channel);
  if (!channel) throw new SvcError("TOOL_BAD_INPUT", noChannel([...channels.keys()]));
  const files = await attachedFiles(channel, said.files, saying);
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
export async function attachedFiles(
  { media }: Pick<Channel, "media">,
  paths: readonly string[],
  { workspace, agent }: Pick<Saying, "workspace" | "agent">,
): Promise<PinnedFile[]> {
  const files = [];
  for (const path of paths) files.push(await attachedFile({ workspace, agent, media }, path));
  return files;
}

const noChannel = (names: readonly string[]): string =>
  names.length === 0
    ? "No channel is in service."
    : `There is no channel of this name in service; there are: ${names.toSorted().join(", ")}.`;
