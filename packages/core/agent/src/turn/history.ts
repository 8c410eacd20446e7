/**
 * The messages of a conversation as the model gets them: the earlier turns that are sent along, which are the newest that fit, dropped
 * whole from the oldest on; and how a message, an answer and a result of a tool is put.
 */
import type {
  JSONValue,
  LanguageModelV4Content,
  LanguageModelV4Message,
  LanguageModelV4ToolCall,
  LanguageModelV4ToolResultOutput,
} from "@ai-sdk/provider";
import type { ClientId, Json } from "@svc/contract";
import type { SentFile, SessionPlace, Store, StoredTurn, TurnMeta } from "@svc/store";
import { redactJson } from "@svc/config";
import { mediaKindOf, jsonAs } from "@svc/kit";
import { type Link, LinkedList } from "@svc/runtime";

export interface Conversation {
  readonly id: string;
  readonly clientId: ClientId;
  readonly name: string;
  /** Where it stands on disk; undefined until its first turn is there. */
  place: SessionPlace | undefined;
  /** Oldest first; undefined until a model reads them. The built-in one never does. */
  turns: KeptTurn[] | undefined;
  tokens: number;
  /** Of memory, for `turns`. */
  bytes: number;
}

interface KeptTurn {
  /** JSON text until a model reads it: ten objects for a turn make each garbage collection slower. */
  messages: readonly LanguageModelV4Message[] | string;
  readonly tokens: number;
  readonly bytes: number;
}

interface AppendedTurn {
  readonly messages: readonly LanguageModelV4Message[];
  readonly text: string;
  readonly tokens: number;
}

/** Limits of what is kept in memory over all conversations; the rest is read again from disk. */
export interface CacheLimits {
  readonly conversations: number;
  readonly bytes: number;
}

const CACHE_LIMITS: CacheLimits = { conversations: 1000, bytes: 32 * 1_048_576 };

export class History {
  readonly #store: Store;
  #maxTokens: number;
  readonly #limits: CacheLimits;
  readonly #cache = new Map<string, Link<Conversation>>();
  /** Least recently used first. Each turn moves one: in a Map that is a new entry, and a new table every few turns. */
  readonly #used = new LinkedList<Conversation>();
  #cachedBytes = 0;

  constructor(store: Store, maxTokens: number, limits: CacheLimits = CACHE_LIMITS) {
    this.#store = store;
    this.#maxTokens = maxTokens;
    this.#limits = limits;
  }

  /** The named conversation of this client, from memory, from disk, or new. `id`: what a new one is called, if that is free. */
  open(clientId: ClientId, name: string, id?: string, key = conversationKey(clientId, name)): Conversation {
    const cached = this.#cache.get(key);
    if (cached) {
      this.#used.moveToEnd(cached);
      return cached.item;
    }
    const conversation = this.#read(clientId, name, id);
    this.#cache.set(key, this.#used.add(conversation));
    this.#cachedBytes += conversation.bytes;
    this.#evict();
    return conversation;
  }

  /** A conversation nobody named: it starts empty and leaves memory with its only turn. */
  fresh(clientId: ClientId, name: string): Conversation {
    return empty(clientId, name, crypto.randomUUID());
  }

  /** What a model is sent of earlier turns. */
  messagesOf(conversation: Conversation): LanguageModelV4Message[] {
    const messages: LanguageModelV4Message[] = [];
    for (const turn of conversation.turns ?? this.#load(conversation)) {
      if (typeof turn.messages === "string") turn.messages = JSON.parse(turn.messages) as LanguageModelV4Message[];
      for (const message of turn.messages) messages.push(message);
    }
    return messages;
  }

  /** What is remembered was cut to the size before. Turns that run end with what they have. */
  resize(maxTokens: number): void {
    if (maxTokens === this.#maxTokens) return;
    this.#maxTokens = maxTokens;
    this.clear();
  }

  /** All of it is read again when it is needed. */
  clear(): void {
    this.#cache.clear();
    while (this.#used.size > 0) this.#used.shift();
    this.#cachedBytes = 0;
  }

  /** Adds a turn that is on disk. `text`: its messages as JSON. */
  append(conversation: Conversation, place: SessionPlace, { messages, text, tokens }: AppendedTurn): void {
    const before = conversation.bytes;
    conversation.place = place;
    // Not in memory yet: the first read loads this turn from disk with the others.
    if (conversation.turns === undefined) return;
    this.#add(conversation, conversation.turns, { messages: text, tokens, bytes: bytesOf(messages) });
    this.#grown(conversation, before);
  }

  #grown(conversation: Conversation, before: number): void {
    if (this.#cache.get(conversationKey(conversation.clientId, conversation.name))?.item !== conversation) return;
    this.#cachedBytes += conversation.bytes - before;
    this.#evict();
  }

  /** What was remembered may not be what is on disk: read it again next time. */
  forget({ clientId, name }: Pick<Conversation, "clientId" | "name">): void {
    const key = conversationKey(clientId, name);
    const cached = this.#cache.get(key);
    if (!cached) return;
    this.#cache.delete(key);
    this.#used.delete(cached);
    this.#cachedBytes -= cached.item.bytes;
  }

  #add(conversation: Conversation, turns: KeptTurn[], turn: KeptTurn): void {
    turns.push(turn);
    conversation.tokens += turn.tokens;
    conversation.bytes += turn.bytes;
    while (conversation.tokens > this.#maxTokens && turns.length > 0) {
      // Moves nothing, where `splice` moves all that stays.
      const oldest = turns.shift()!;
      conversation.tokens -= oldest.tokens;
      conversation.bytes -= oldest.bytes;
    }
  }

  /** One whose turn runs may go too: the turn holds it, and its end finds it on disk. So may the only one, if it is too large. */
  #evict(): void {
    while (this.#cache.size > this.#limits.conversations || this.#cachedBytes > this.#limits.bytes) {
      this.forget(this.#used.first!);
    }
  }

  #read(clientId: ClientId, name: string, wanted: string | undefined): Conversation {
    const { sessions } = this.#store;
    const place = sessions.find(clientId, name);
    if (!place) {
      const isFree = wanted !== undefined && sessions.byId(wanted) === undefined;
      return empty(clientId, name, isFree ? wanted : crypto.randomUUID());
    }
    const conversation = empty(clientId, name, sessions.idOf(place) ?? crypto.randomUUID());
    conversation.place = place;
    return conversation;
  }

  #load(conversation: Conversation): KeptTurn[] {
    const turns: KeptTurn[] = (conversation.turns = []);
    const { place, bytes: before } = conversation;
    if (place === undefined) return turns;
    for (const turn of this.#store.sessions.recentTurns(place, this.#maxTokens)) {
      const messages = forModel(turn);
      this.#add(conversation, turns, { messages, tokens: turn.tokens, bytes: bytesOf(messages) });
    }
    this.#grown(conversation, before);
    return turns;
  }
}

function empty(clientId: ClientId, name: string, id: string): Conversation {
  return { id, clientId, name, place: undefined, turns: undefined, tokens: 0, bytes: 0 };
}

/** An upper bound of the memory that plain data takes: V8 keeps a character in one byte or in two. */
function bytesOf(value: unknown): number {
  if (typeof value === "string") return OBJECT_BYTES + 2 * value.length;
  if (typeof value !== "object" || value === null) return FIELD_BYTES;
  if (ArrayBuffer.isView(value)) return OBJECT_BYTES + value.byteLength;
  let bytes = OBJECT_BYTES;
  for (const field of Object.values(value)) bytes += FIELD_BYTES + bytesOf(field);
  return bytes;
}

const OBJECT_BYTES = 32;
const FIELD_BYTES = 8;

/** Names a conversation among all, and its queue. */
export const conversationKey = (owner: ClientId, name: string): string => `${owner}\n${name}`;

/** Names a conversation whose request has no name. The caller sends this name to continue it. */
export const newSessionName = (): string => `s-${crypto.randomUUID()}`;

// One message: answers, results of tools, questions with files.

/** What the model is told of a call that started, and of which nobody knows how it ended. */
export const INTERRUPTED = "interrupted, outcome unknown";

type AssistantMessage = Extract<LanguageModelV4Message, { role: "assistant" }>;

/** What the model is asked when a person wants the rest of an answer. */
export const CONTINUE =
  "Continue the answer above exactly where it broke off. Do not repeat what it says already, and do not comment on the break.";

const BY_HAND = "[The owner of this service wrote the next reply by hand. It was sent to the person as yours.]";
const STOPPED = "[This answer was stopped before it was complete.]";
const BROKEN_OFF = "[This answer broke off before it was complete.]";
const FAILED = "[This turn failed before it could answer.]";
const FAILED_ACTED = "[This turn failed before it could answer. The tool results above did happen.]";

/**
 * A turn as later ones show it to the model. One that was cut off ends with a word of the model's own that says so, or two
 * messages of the person would follow each other, and half an answer would pass for a whole one.
 */
export function forModel({
  state,
  meta,
  messages: stored,
}: Pick<StoredTurn, "state" | "messages"> & { readonly meta?: TurnMeta | undefined }): LanguageModelV4Message[] {
  const messages = jsonAs<LanguageModelV4Message[]>(stored);
  // Where nothing waited for it, two messages of the model's would follow each other.
  if (meta?.kind === "by_hand") return messages[0]?.role === "user" ? messages : [userMessage(BY_HAND), ...messages];
  if (state === "done") return messages;
  if (meta?.refused) return [];
  const last = messages.at(-1);
  const text = state === "stopped" ? STOPPED : meta?.acted ? FAILED_ACTED : last?.role === "user" ? FAILED : BROKEN_OFF;
  const note = { type: "text" as const, text };
  if (last?.role !== "assistant") return [...messages, { role: "assistant", content: [note] }];
  return [...messages.slice(0, -1), { ...last, content: [...last.content, note] }];
}

/** What a turn has done until it was cut off: every call has its result, or the next request would be refused. */
export function cutOff(messages: readonly LanguageModelV4Message[], partial: string): LanguageModelV4Message[] {
  const answered = new Set<string>();
  for (const message of messages) {
    if (message.role !== "tool") continue;
    for (const part of message.content) if (part.type === "tool-result") answered.add(part.toolCallId);
  }
  const result: LanguageModelV4Message[] = [];
  for (const message of messages) {
    result.push(message);
    if (message.role !== "assistant") continue;
    for (const part of message.content) {
      if (part.type !== "tool-call" || answered.has(part.toolCallId)) continue;
      const output = { type: "error-text" as const, value: INTERRUPTED };
      result.push({
        role: "tool",
        content: [{ type: "tool-result", toolCallId: part.toolCallId, toolName: part.toolName, output }],
      });
    }
  }
  if (partial.trim() !== "") result.push({ role: "assistant", content: [{ type: "text", text: partial }] });
  return result;
}

export function userMessage(text: string): LanguageModelV4Message {
  return { role: "user", content: [{ type: "text", text }] };
}

/**
 * The answer as a message: text, reasoning with its signatures, and tool calls. Sources and the like are not sent back, nor
 * is blank text, which some providers refuse to be shown again.
 */
export function assistantMessage(content: readonly LanguageModelV4Content[]): AssistantMessage {
  const parts: AssistantMessage["content"] = [];
  for (const part of content) {
    const options =
      "providerMetadata" in part && part.providerMetadata ? { providerOptions: part.providerMetadata } : {};
    if (part.type === "text" && part.text.trim() === "") continue;
    if (part.type === "text" || part.type === "reasoning") parts.push({ type: part.type, text: part.text, ...options });
    if (part.type === "tool-call") {
      const { toolCallId, toolName } = part;
      parts.push({ type: "tool-call", toolCallId, toolName, input: objectOr(part.input), ...options });
    }
  }
  return { role: "assistant", content: parts };
}

/** The parts of an answer that `assistantMessage` and `toolCallsOf` look at, as JSON can hold them. */
export const storableContent = (content: readonly LanguageModelV4Content[]): readonly LanguageModelV4Content[] =>
  content.filter(({ type }) => type === "text" || type === "reasoning" || type === "tool-call");

export function toolMessage(call: LanguageModelV4ToolCall, ok: boolean, output: Json): LanguageModelV4Message {
  return {
    role: "tool",
    content: [
      { type: "tool-result", toolCallId: call.toolCallId, toolName: call.toolName, output: outputOf(ok, output) },
    ],
  };
}

/**
 * Some servers number their calls anew in each answer, or give none an id at all. The journal and the results are kept by
 * it, so what is blank or was used in this turn gets an id of ours. `alsoUsed`: by an attempt that is not in `earlier`.
 */
export function withUniqueCallIds<Answer extends { readonly content: readonly LanguageModelV4Content[] }>(
  answer: Answer,
  earlier: readonly LanguageModelV4Message[],
  alsoUsed: Iterable<string> = [],
): Answer {
  if (!answer.content.some(isOurCall)) return answer;
  const used = new Set<string>(alsoUsed);
  for (const { role, content } of earlier) {
    if (role === "assistant") for (const part of content) if (part.type === "tool-call") used.add(part.toolCallId);
  }
  const content = answer.content.map((part) => {
    if (!isOurCall(part)) return part;
    const isNew = part.toolCallId.trim() !== "" && !used.has(part.toolCallId);
    const toolCallId = isNew ? part.toolCallId : `call_${crypto.randomUUID()}`;
    used.add(toolCallId);
    return { ...part, toolCallId };
  });
  return { ...answer, content };
}

/**
 * The same content when there is nothing to take out. A secret may stand with one half in each of two texts: they become one
 * then. Reasoning goes back to the provider unchanged, or is refused.
 */
export function redactText(
  content: readonly LanguageModelV4Content[],
  redact: (text: string) => string,
): readonly LanguageModelV4Content[] {
  const said = textOf(content);
  const clean = redact(said);
  if (clean === said) return content;
  const inPlace = content.map((part) => (part.type === "text" ? { ...part, text: redact(part.text) } : part));
  if (textOf(inPlace) === clean) return inPlace;
  const first = content.findIndex(({ type }) => type === "text");
  return content.flatMap((part, index): LanguageModelV4Content[] => {
    if (part.type !== "text") return [part];
    return index === first ? [{ ...part, text: clean }] : [];
  });
}

/**
 * What was asked of tools, as it is kept. The tools got it as it was said: somebody may have told the model a secret so that it
 * uses it. Messages in which there is nothing to take out are the same ones.
 */
export function redactInputs(
  messages: readonly LanguageModelV4Message[],
  redact: (text: string) => string,
): LanguageModelV4Message[] {
  return messages.map((message) => {
    if (message.role !== "assistant" || !message.content.some(({ type }) => type === "tool-call")) return message;
    const content = message.content.map((part) =>
      part.type === "tool-call" ? { ...part, input: redactJson(part.input as Json, redact) } : part,
    );
    return { ...message, content };
  });
}

/** Calls that we are to run; a provider's own tools have run already. */
export function toolCallsOf(content: readonly LanguageModelV4Content[]): LanguageModelV4ToolCall[] {
  return content.filter(isOurCall);
}

const isOurCall = (part: LanguageModelV4Content): part is LanguageModelV4ToolCall =>
  part.type === "tool-call" && part.providerExecuted !== true;

export function textOf(content: readonly LanguageModelV4Content[]): string {
  const first = content[0];
  if (content.length === 1 && first?.type === "text") return first.text;
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

function outputOf(ok: boolean, output: Json): LanguageModelV4ToolResultOutput {
  if (typeof output === "string") return { type: ok ? "text" : "error-text", value: output };
  return { type: ok ? "json" : "error-json", value: output as JSONValue };
}

/** Providers want the input as an object; any other is sent back as an empty object beside the error result. */
function objectOr(input: string): object {
  try {
    const value: unknown = JSON.parse(input || "{}");
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
  } catch {
    return {};
  }
}

/**
 * A message with its files, as the model gets it: the words of the person and, in a text of their own, a line for each file, in the
 * same form as those of channels. `transcripts`: by id of the file, what follows its line.
 */
export function questionWith(
  text: string,
  files: readonly SentFile[],
  transcripts: ReadonlyMap<string, string> = NO_TRANSCRIPTS,
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

const NO_TRANSCRIPTS: ReadonlyMap<string, string> = new Map();

/** The words of the person alone. */
export function wordsIn({ content }: LanguageModelV4Message, files: readonly SentFile[] = []): string {
  const parts = typeof content === "string" ? [] : content.filter((part) => part.type === "text");
  return (files.length > 0 ? parts.slice(0, -1) : parts).map(({ text }) => text).join("");
}

/** What the model is told of a recording. */
export const transcriptText = (text: string): string =>
  text === "" ? "(Nothing is said in this recording.)" : `Transcript of this recording: ${text}`;
export const NOT_TRANSCRIBED = "(This recording could not be transcribed.)";
