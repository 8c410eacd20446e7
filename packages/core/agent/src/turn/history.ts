/** The part of a conversation that is sent along: the newest turns that fit, dropped whole from the oldest on. */
import type { LanguageModelV4Message } from "@ai-sdk/provider";
import type { ClientId } from "@svc/contract";
import type { SessionPlace, Store } from "@svc/store";

export interface Conversation {
  readonly id: string;
  readonly clientId: ClientId;
  readonly name: string;
  /** Where it stands on disk; undefined until its first turn is there. */
  place: SessionPlace | undefined;
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
  append(
    conversation: Conversation,
    place: SessionPlace,
    messages: readonly LanguageModelV4Message[],
    tokens: number,
  ): void {
    conversation.place = place;
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
    const place = this.#store.sessions.find(clientId, name);
    if (!place) return conversation;
    for (const turn of this.#store.sessions.recentTurns(place, this.#maxTokens)) {
      this.append(conversation, place, turn.messages as unknown as LanguageModelV4Message[], turn.tokens);
    }
    conversation.place = place;
    return conversation;
  }
}

function empty(clientId: ClientId, name: string): Conversation {
  return { id: crypto.randomUUID(), clientId, name, place: undefined, messages: [], turns: [], tokens: 0 };
}

const keyOf = (clientId: ClientId, name: string): string => `${clientId}\n${name}`;
