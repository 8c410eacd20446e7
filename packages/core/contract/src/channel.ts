/** A place people write from and are answered in. `send` is the only required member; facets are capabilities. */
import type { Json } from "./json.ts";

/** Where a message goes: a chat, a room, an address, and the thread in it. Names one conversation of the service. */
export interface Conversation {
  readonly channel: string;
  readonly id: string;
  readonly thread?: string;
}

export interface OutgoingMessage {
  readonly conversation: Conversation;
  /** At most `Channel.text.maxChars`; blank only when there are files. */
  readonly text: string;
  /** Sent after the text, each to a platform that takes its kind. */
  readonly files?: readonly OutgoingFile[];
  /** Stable over retries; passed on where the platform takes an idempotency key. */
  readonly deliveryId: string;
  /** What the channel said of the message this answers (`Inbound.replyData`). */
  readonly replyData?: Json;
  /**
   * A deliberate message: `channel_send`, `svc send`. Without it, the message is an answer, a question or a notice, for which a
   * channel that disturbs people (a telephone call) opens no conversation.
   */
  readonly mayOpen?: true;
}

export interface OutgoingFile {
  readonly kind: MediaKind;
  readonly name: string;
  /** `type/subtype`. */
  readonly mimeType: string;
  /**
   * Reads all of it. Throws DELIVERY_REFUSED when it is gone, or larger than `Media.maxBytes`, and DELIVERY_FILE_CHANGED when it is
   * not the file that was queued.
   */
  read(): Promise<Uint8Array>;
}

export interface Receipt {
  /** The platform's id of what was sent, where it tells one. */
  readonly platformId?: string;
  /**
   * The conversation that the message opened, if it differs from the target: a thread, or a chat by the platform's own id.
   * Answers arrive there.
   */
  readonly opened?: Conversation;
}

export type MediaKind = "image" | "audio" | "video" | "document" | "sticker";

export interface Channel {
  /**
   * Resolves when the platform has accepted the message. Throws `SvcError`: DELIVERY_REFUSED when it would refuse it again
   * (the delivery is a dead letter at once), CHANNEL_UNAUTHORIZED, REMOTE_* or DELIVERY_FAILED when trying again may help,
   * with `retryAfterMs` where the platform says so.
   */
  send(message: OutgoingMessage, signal: AbortSignal): Promise<Receipt>;
  /** What one message may hold; longer ones are split before they are kept. Default: 4 000 characters. */
  readonly text?: { readonly maxChars: number };
  /** "… is writing". Errors are logged and forgotten. */
  readonly typing?: {
    /** How long the platform shows it; asked for again after that, as long as the turn runs. */
    readonly lastsMs: number;
    start(conversation: Conversation, messageId: string | undefined, signal: AbortSignal): Promise<void>;
  };
  /** Tells the sender that the message was read, once its turn begins. Errors are logged and forgotten. */
  readonly readMarks?: {
    mark(conversation: Conversation, messageId: string, signal: AbortSignal): Promise<void>;
    /** Takes it back, once the message is answered or given up; for a mark that says "I am at it". */
    clear?(conversation: Conversation, messageId: string, signal: AbortSignal): Promise<void>;
  };
  /** Answers that people see being written. */
  readonly drafts?: Drafts;
  readonly media?: Media;
  /** For a channel whose devices verify each other. */
  readonly verification?: Verification;
  /** For a channel that is a linked device of an account: how to link it. */
  readonly linking?: Linking;
  /** Questions with buttons. Without it a question is posted by `send`, and answered by a word. */
  readonly prompts?: Prompts;
  /**
   * Asks the platform who we are there, for `svc channels test` and at start. Resolves with one line for a person, e.g.
   * the account's name. Throws CHANNEL_UNAUTHORIZED, REMOTE_*.
   */
  check?(signal: AbortSignal): Promise<string>;
  /**
   * Makes the platform deliver to `url`, the public URL of our ingress, as far as the channel's credentials allow: `svc
   * channels setup`. Resolves with a summary for a person: the steps done, and those left to do by hand. Throws as `check`, and
   * CHANNEL_CANNOT when the config lacks something.
   */
  setup?(options: { readonly url: string }, signal: AbortSignal): Promise<string>;
  /**
   * What `Parsed.notices` kept, handed over after the platform was answered; again, with back-off, when it throws. At
   * least once: it must not matter if it comes twice.
   */
  onNotice?(notice: Json, signal: AbortSignal): Promise<void>;
}

export interface Media {
  /** Largest file either way, in bytes. */
  readonly maxBytes: number;
  /** Kinds that `send` takes in `files`. */
  readonly sends: readonly MediaKind[];
  /** The platform plays Ogg Opus as a voice note; spoken answers are made so. */
  readonly voiceNotes?: true;
  /**
   * Fetches what a message came with, piece by piece. Throws MEDIA_REFUSED (another host, too large, gone), REMOTE_*,
   * CHANNEL_UNAUTHORIZED.
   */
  fetch(media: InboundMedia, write: (chunk: Uint8Array) => Promise<void>, signal: AbortSignal): Promise<FetchedMedia>;
}

/** A question to a person that is answered by yes or no. */
export interface Prompt {
  /** What a button hands back, as `Inbound.choice.prompt`. At most 32 characters of `[a-z0-9-]`. */
  readonly id: string;
  readonly title: string;
  /** Plain text. */
  readonly message: string;
  /** Labels of the buttons. */
  readonly approve: string;
  readonly reject: string;
}

export interface Prompts {
  /** Posts it with buttons; `message.text` is the same question in words, for those who can't press one. As `send`. */
  post(message: OutgoingMessage, prompt: Prompt, signal: AbortSignal): Promise<Receipt>;
  /** Takes the buttons off a question that was posted, and says there how it ended. Errors are logged and forgotten. */
  close?(posted: PostedPrompt, outcome: string, signal: AbortSignal): Promise<void>;
}

export interface PostedPrompt {
  readonly conversation: Conversation;
  readonly platformId: string | undefined;
  readonly text: string;
}

export interface FetchedMedia {
  /** As the platform told it; undefined: it did not. */
  readonly mimeType?: string;
}

/** A received message, from a webhook or a connection. It is stored as JSON before any code acts on it. */
export interface Inbound {
  /**
   * `reaction`: recorded, no turn. `locked`: encrypted, and its keys have not come. It waits in the inbox until it comes again with
   * `unlocks`, or until `ReceivedWith.ended` names it.
   */
  readonly kind?: "message" | "reaction" | "locked";
  /** A `locked` one of this id, which can be read now. It is a message like any other if none waits and the id is new. */
  readonly unlocks?: true;
  /**
   * The platform's own id of it; one that was seen before is dropped. Without one nothing can be told apart, and every
   * delivery is a message.
   */
  readonly id?: string;
  /** How long an id of this kind is remembered; default `DEDUPE_MS`. */
  readonly dedupeMs?: number;
  /**
   * For platforms that number the messages of a conversation: a message older than every remembered one is dropped, so
   * that no replay gets in after its id was forgotten.
   */
  readonly sequence?: number;
  readonly conversation: Conversation;
  /** Who wrote it, as the allowlist compares: a phone number with `+`, an address, a user id. */
  readonly sender: string;
  readonly senderName?: string;
  /** A room with several people: the prompt names the sender. */
  readonly group?: boolean;
  readonly text: string;
  readonly media?: readonly InboundMedia[];
  /** The sender picked this message to reply to: the platform's id of it, as in `Receipt.platformId`, or any text for one elsewhere. */
  readonly repliesTo?: string;
  /** The words are not the sender's: forwarded, or those of another program's button. They answer no question of ours. */
  readonly secondHand?: true;
  /** A button of `Prompts.post` was pressed; `text` is its label. */
  readonly choice?: { readonly prompt: string; readonly approved: boolean };
  /** When the platform says it was written, milliseconds since the epoch. */
  readonly sentAtMs?: number;
  /** What the channel wants to be handed with the answer, e.g. the Message-ID it belongs under. */
  readonly replyData?: Json;
}

export interface InboundMedia {
  readonly kind: MediaKind;
  /** What the channel fetches it by: the platform's id, or a URL. */
  readonly ref: string;
  /** Its placeholder in the text; replaced by the saved path, by a transcript, or by the reason for having neither. */
  readonly placeholder: string;
  readonly mimeType?: string;
  readonly fileName?: string;
}

/** What the platform says later of a message it had accepted. */
export interface DeliveryUpdate {
  /** `Receipt.platformId`. */
  readonly platformId: string;
  readonly status: "sent" | "delivered" | "read" | "failed";
  /** Why it failed, as a sentence of ours. */
  readonly reason?: string;
}

/** Provider message ids are remembered for eight days: longer than any platform repeats a delivery (Provider A: seven). */
export const DEDUPE_MS = 691_200_000;

/** Default length of one message, for channels without `Channel.text`. */
export const DEFAULT_MAX_CHARS = 4_000;

/**
 * Verifies the keys of another device, which rules out a man in the middle: it scans a QR code, or both show the same row of
 * symbols. Every call does our next step. Throws CHANNEL_DOWN, CHANNEL_CANNOT, CHANNEL_UNAUTHORIZED, REMOTE_*.
 */
export interface Verification {
  /** Who asks to verify this device and has no answer yet, for a person. */
  requests(signal: AbortSignal): Promise<readonly string[]>;
  /** Takes up a request that waits, or asks the account's other devices. */
  begin(signal: AbortSignal): Promise<VerificationState>;
  state(signal: AbortSignal): Promise<VerificationState>;
  /** At `scan`: compares symbols instead. */
  compare(signal: AbortSignal): Promise<VerificationState>;
  /** At `compare`: whether the other side shows the same symbols; at `scanned`: whether it says that it is verified. */
  answer(matches: boolean, signal: AbortSignal): Promise<VerificationState>;
}

/** `peer`: the other side, for a person. */
export type VerificationState =
  | { readonly stage: "waiting" | "scanned" | "confirmed" | "done"; readonly peer: string }
  /** `qr`: rows of the code that the other device scans, `1` for a dark module and `0` for a light one, without a margin. */
  | { readonly stage: "scan"; readonly peer: string; readonly qr: readonly string[] }
  | {
      readonly stage: "compare";
      readonly peer: string;
      readonly symbols: readonly { readonly symbol: string; readonly name: string }[];
    }
  | { readonly stage: "cancelled"; readonly peer: string; readonly reason: string };

/** Links an account of the platform with this service, which becomes one of its devices. Throws REMOTE_*, CHANNEL_DOWN. */
export interface Linking {
  /** Begins, where no account is linked and no attempt is under way. */
  begin(signal: AbortSignal): Promise<LinkState>;
  state(signal: AbortSignal): Promise<LinkState>;
}

export type LinkState =
  | { readonly stage: "waiting" }
  /**
   * `qr`: rows of the code that the phone scans, as in `VerificationState`; another one follows after some seconds. `how`: what to do on
   * the phone.
   */
  | { readonly stage: "scan"; readonly qr: readonly string[]; readonly how: string }
  /** `code`: the code to type on the phone. */
  | { readonly stage: "code"; readonly code: string; readonly how: string }
  /** `account`: the linked one, for a person. */
  | { readonly stage: "done"; readonly account: string }
  | { readonly stage: "ended"; readonly reason: string };

/** Answers that people see being written: the core sends the beginning, edits it as it grows, and ends it from the outbox. */
export interface Drafts {
  /**
   * `partial`: the beginning of an answer is sent, and edited as it grows. `multi_message`: each paragraph is a message as soon
   * as it is complete.
   */
  readonly mode: "partial" | "multi_message";
  /** At least so long between two edits there, in milliseconds; the platform's own limits included. */
  intervalMs(conversation: Conversation): number;
  /**
   * Replaces the text of a message that `send` sent; the same text is no error. Throws as `send`: DELIVERY_REFUSED
   * when the message is gone or can't be edited any more, and then the text is sent as a new message.
   */
  edit(sent: SentMessage, text: string, signal: AbortSignal): Promise<void>;
}

/** A message of ours on the platform. */
export interface SentMessage {
  readonly conversation: Conversation;
  /** `Receipt.platformId`. */
  readonly platformId: string;
  /** `OutgoingMessage.replyData` of what was sent. */
  readonly replyData?: Json;
}
