/** A place people write from and are answered in. `send` is the only required member; facets are capabilities. */

/** Where a message goes: a chat, a room, an address, and the thread in it. */
export interface Conversation {
  readonly channel: string;
  readonly id: string;
  readonly thread?: string;
}

export interface OutgoingMessage {
  readonly conversation: Conversation;
  readonly text: string;
  /** Stable over retries; passed on where the platform takes an idempotency key. */
  readonly deliveryId: string;
}

export interface Receipt {
  /** The platform's id of what was sent, where it tells one. */
  readonly platformId?: string;
}

export interface Channel {
  /** Resolves when the platform has accepted the message; throws `SvcError` with `retryAfterMs` where it says so. */
  send(message: OutgoingMessage, signal: AbortSignal): Promise<Receipt>;
  readonly typing?: { start(conversation: Conversation, signal: AbortSignal): Promise<void> };
}
