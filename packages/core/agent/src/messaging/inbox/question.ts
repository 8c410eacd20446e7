/** What the model is asked: the text of a message with its files in it, and in a group who wrote. */
import type { Channel, Inbound } from "@svc/contract";
import { DEFAULT_AGENT } from "@svc/kernel";
import { keepQuestion } from "../../turn/kept-steps.ts";
import { incomingFiles } from "../media/incoming-files.ts";
import { withMedia } from "../media/placeholders.ts";
import type { Attempt } from "./attempt.ts";
import type { InboxParts } from "./parts.ts";

const NAME_CHARS = 80;

/** Rejects with STORE_*, and when the attempt is called off. */
export async function questionOf(parts: InboxParts, attempt: Attempt, channel: Channel): Promise<string> {
  const { store } = parts;
  const { message, inbound, signal } = attempt;
  const { aside } = attempt.leave;
  const { n, turnId, receivedAtMs, attempts } = message;
  const { media = [] } = inbound;
  // An earlier attempt has asked: whoever takes the turn up asks in the words that are kept.
  if (media.length === 0 || store.steps.of(turnId).length > 0) return spoken(inbound, inbound.text);
  const { clock, log, fetch, runProgram, settings, workspaceOf, transcriber } = parts;
  const { transcription, agentOf } = settings();
  const workspace = workspaceOf(agentOf(message.channel) ?? DEFAULT_AGENT);
  const isAgain = attempts > 0;
  const about = { n, receivedAtMs, isAgain, channel, workspace, transcription, transcriber };
  const placed = await incomingFiles({ ...about, clock, log, fetch, runProgram, signal, aside }, media);
  const text = spoken(inbound, withMedia(inbound.text, placed));
  // Files and transcripts cost time and money, and must be the same for whoever takes the turn up.
  await store.write(() => keepQuestion(store, turnId, text));
  return text;
}

/** On one line, so that no name can be read as somebody else's message. */
function spoken({ group, sender, senderName }: Inbound, text: string): string {
  if (!group) return text;
  const name = (senderName ?? "").replaceAll(/[\p{C}\p{Z}:]+/gu, " ").trim();
  return `${[...(name || sender)].slice(0, NAME_CHARS).join("")}: ${text}`;
}
