/** What a fake model server does with one request. */
import type { Json } from "@svc/contract";

export interface ModelToolCall {
  readonly name: string;
  readonly input: { readonly [key: string]: Json };
}

export type ModelStep =
  /** Answers with text, tool calls, or both. */
  | {
      readonly text?: string;
      readonly calls?: readonly ModelToolCall[];
      readonly inputTokens?: number;
      readonly outputTokens?: number;
      /** Awaited when half of a streamed answer is out: the model thinks. */
      readonly midway?: () => Promise<void>;
    }
  /** Refuses with this status, in the provider's own error shape. */
  | { readonly status: number; readonly message?: string; readonly headers?: Readonly<Record<string, string>> }
  /** Takes the request and never answers. */
  | { readonly fault: "hang" }
  /** Status 200, and a body that is not JSON (streaming: events that are not). */
  | { readonly fault: "bad-json" }
  /** Closes the connection without an answer. */
  | { readonly fault: "drop" }
  /** Sends the beginning of the answer, then closes the connection. */
  | { readonly fault: "drop-midway"; readonly text?: string };

/** A finished answer, before a provider's wire format is put on. */
export interface ModelReply {
  readonly id: string;
  readonly model: string;
  readonly text: string;
  readonly calls: readonly (ModelToolCall & { readonly id: string })[];
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** One server-sent event. */
export interface SseEvent {
  readonly event?: string;
  readonly data: Json | string;
}

/** A provider's wire format. */
export interface Wire {
  readonly id: "chat-completions" | "responses" | "messages";
  /** Last part of the path. */
  readonly path: string;
  json(reply: ModelReply): Json;
  events(reply: ModelReply): SseEvent[];
  error(status: number, message: string): Json;
}

/** Words with the white space after them: what a model streams. */
export const pieces = (text: string): string[] => text.match(/\S+\s*|\s+/g) ?? [];
