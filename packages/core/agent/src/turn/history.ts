/** The part of a conversation that is sent along: the newest turns that fit, dropped whole from the oldest on. */
import type { LanguageModelV4Message } from "@ai-sdk/provider";
import type { ClientId } from "@svc/contract";
import type { Store } from "@svc/store";

export interface Conversation {
  /** Row id. */
  readonly id: string;
  readonly clientId: ClientId;
  readonly name: string;
  /** No turn of it is on disk yet. */
  isNew: boolean;
  readonly messages: LanguageModelV4Message[];
  /** Per turn in `messages`, oldest first. */
  readonly turns: { readonly messages: number; readonly tokens: number }[];
  tokens: number;
}

/** Conversations kept in memory; the rest is read again from disk. */
const MAX_CACHED = 1000;

export class History {
  readonly #store: Store;
  readonly #maxTokens: number;
  readonly #cache = new Map<string, Conversation>();

  constructor(store: Store, maxTokens: number) {
    this.#store = store;
    this.#maxTokens = maxTokens;
  }

  /** The named conversation of this client, from memory, from disk, or new. */
  open(clientId: ClientId, name: string): Conversation {
    const key = keyOf(clientId, name);
    const cached = this.#cache.get(key);
    if (cached) {
      this.#cache.delete(key);
      this.#cache.set(key, cached);
      return cached;
    }
    const conversation = this.#read(clientId, name);
    this.#cache.set(key, conversation);
    if (this.#cache.size > MAX_CACHED) this.#cache.delete(this.#cache.keys().next().value!);
    return conversation;
  }

  /** A conversation nobody named: it starts empty and leaves memory with its only turn. */
  fresh(clientId: ClientId): Conversation {
    return empty(clientId, `s-${crypto.randomUUID()}`);
  }

  /** Adds a turn that is on disk. */
  append(conversation: Conversation, messages: readonly LanguageModelV4Message[], tokens: number): void {
    conversation.isNew = false;
    conversation.messages.push(...messages);
    conversation.turns.push({ messages: messages.length, tokens });
    conversation.tokens += tokens;
    while (conversation.tokens > this.#maxTokens && conversation.turns.length > 0) {
      const oldest = conversation.turns.shift()!;
      conversation.messages.splice(0, oldest.messages);
      conversation.tokens -= oldest.tokens;
    }
  }

  /** What was remembered may not be what is on disk: read it again next time. */
  forget(conversation: Conversation): void {
    this.#cache.delete(keyOf(conversation.clientId, conversation.name));
  }

  #read(clientId: ClientId, name: string): Conversation {
    const conversation = empty(clientId, name);
    const session = this.#store.sessions.find(clientId, name);
    if (!session) return conversation;
    const known: Conversation = { ...conversation, id: session.id };
    for (const turn of this.#store.sessions.recentTurns(session.id, this.#maxTokens)) {
      this.append(known, turn.messages as unknown as LanguageModelV4Message[], turn.tokens);
    }
    known.isNew = false;
    return known;
  }
}

function empty(clientId: ClientId, name: string): Conversation {
  return { id: crypto.randomUUID(), clientId, name, isNew: true, messages: [], turns: [], tokens: 0 };
}

const keyOf = (clientId: ClientId, name: string): string => `${clientId}\n${name}`;
