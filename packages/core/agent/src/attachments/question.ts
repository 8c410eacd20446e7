/**
 * A message with its files, as the model is told of them: the words of the person, and in a text of their own a line for each
 * file, in the same form as those of channels.
 */
import type { LanguageModelV4Message } from "@ai-sdk/provider";
import type { SentFile } from "@svc/store";
import { mediaKindOf } from "@svc/kit";
import { userMessage } from "../turn/messages.ts";

/** `transcripts`: by id of the file, what follows its line. */
export function questionWith(
  text: string,
  files: readonly SentFile[],
  transcripts: ReadonlyMap<string, string> = new Map(),
): LanguageModelV4Message {
  if (files.length === 0) return userMessage(text);
  const lines = files.flatMap(({ id, type, path }) => [
    `[${mediaKindOf(type).toUpperCase()}:${path}]`,
    ...(transcripts.has(id) ? [transcripts.get(id)!] : []),
  ]);
  const isBlank = text.trim() === "";
  const about = { type: "text" as const, text: (isBlank ? "" : "\n") + lines.join("\n") };
  return { role: "user", content: isBlank ? [about] : [{ type: "text", text }, about] };
}

/** The words of the person alone. */
export function wordsIn({ content }: LanguageModelV4Message, files: readonly SentFile[] = []): string {
  const parts = typeof content === "string" ? [] : content.filter((part) => part.type === "text");
  return (files.length > 0 ? parts.slice(0, -1) : parts).map(({ text }) => text).join("");
}

/** What the model is told of a recording. */
export const transcriptText = (text: string): string =>
  text === "" ? "(Nothing is said in this recording.)" : `Transcript of this recording: ${text}`;
export const NOT_TRANSCRIBED = "(This recording could not be transcribed.)";
