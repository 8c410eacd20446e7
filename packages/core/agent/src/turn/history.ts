/** The part of a conversation that is sent along: the newest turns that fit, dropped whole from the oldest on. */
import type { LanguageModelV4Message } from "@ai-sdk/provider";
import type { ClientId } from "@svc/contract";
import type { SessionPlace, Store } from "@svc/store";
import { forModel } from "./messages.ts";

export interface Conversation {
  readonly id: string;
  readonly clientId: ClientId;
  readonly name: string;
  /** Where it stands on disk; undefined until its first turn is there. */
  place: SessionPlace | undefined;
  /** Oldest first. */
  readonly turns: KeptTurn[];
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

/** What a model is sent of earlier turns. */
export function messagesOf({ turns }: Pick<Conversation, "turns">): LanguageModelV4Message[] {
  const messages: LanguageModelV4Message[] = [];
  for (const turn of turns) {
    if (typeof turn.messages === "string") turn.messages = JSON.parse(turn.messages) as LanguageModelV4Message[];
    for (const message of turn.messages) messages.push(message);
  }
  return messages;
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
  /** Least recently used first. */
  readonly #cache = new Map<string, Conversation>();
  #cachedBytes = 0;

  constructor(store: Store, maxTokens: number, limits: CacheLimits = CACHE_LIMITS) {
    this.#store = store;
    this.#maxTokens = maxTokens;
    this.#limits = limits;
  }

  /** The named conversation of this client, from memory, from disk, or new. `id`: what a new one is called, if that is free. */
  open(clientId: ClientId, name: string, id?: string): Conversation {
    const key = conversationKey(clientId, name);
    const cached = this.#cache.get(key);
    if (cached) {
      this.#cache.delete(key);
      this.#cache.set(key, cached);
      return cached;
    }
    const conversation = this.#read(clientId, name, id);
    this.#cache.set(key, conversation);
    this.#cachedBytes += conversation.bytes;
    this.#evict();
    return conversation;
  }

  /** A conversation nobody named: it starts empty and leaves memory with its only turn. */
  fresh(clientId: ClientId, name: string): Conversation {
    return empty(clientId, name, crypto.randomUUID());
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
    this.#cachedBytes = 0;
  }

  /** Adds a turn that is on disk. `text`: its messages as JSON. */
  append(conversation: Conversation, place: SessionPlace, { messages, text, tokens }: AppendedTurn): void {
    const before = conversation.bytes;
    conversation.place = place;
    this.#add(conversation, { messages: text, tokens, bytes: bytesOf(messages) });
    if (this.#cache.get(conversationKey(conversation.clientId, conversation.name)) !== conversation) return;
    this.#cachedBytes += conversation.bytes - before;
    this.#evict();
  }

  /** What was remembered may not be what is on disk: read it again next time. */
  forget({ clientId, name }: Pick<Conversation, "clientId" | "name">): void {
    const key = conversationKey(clientId, name);
    const cached = this.#cache.get(key);
    if (!cached) return;
    this.#cache.delete(key);
    this.#cachedBytes -= cached.bytes;
  }

  #add(conversation: Conversation, turn: KeptTurn): void {
    conversation.turns.push(turn);
    conversation.tokens += turn.tokens;
    conversation.bytes += turn.bytes;
    while (conversation.tokens > this.#maxTokens && conversation.turns.length > 0) {
      // Moves nothing, where `splice` moves all that stays.
      const oldest = conversation.turns.shift()!;
      conversation.tokens -= oldest.tokens;
      conversation.bytes -= oldest.bytes;
    }
  }

  /** One whose turn runs may go too: the turn holds it, and its end finds it on disk. So may the only one, if it is too large. */
  #evict(): void {
    while (this.#cache.size > this.#limits.conversations || this.#cachedBytes > this.#limits.bytes) {
      this.forget(this.#cache.values().next().value!);
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
    for (const turn of sessions.recentTurns(place, this.#maxTokens)) {
      const messages = forModel(turn);
      this.#add(conversation, { messages, tokens: turn.tokens, bytes: bytesOf(messages) });
    }
    conversation.place = place;
    return conversation;
  }
}

function empty(clientId: ClientId, name: string, id: string): Conversation {
  return { id, clientId, name, place: undefined, turns: [], tokens: 0, bytes: 0 };
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

/** Names a conversation among all, and its lane. */
export const conversationKey = (owner: ClientId, name: string): string => `${owner}\n${name}`;

/** Of a conversation that nobody named; whoever goes on with it says this. */
export const newSessionName = (): string => `s-${crypto.randomUUID()}`;
