/**
 * A chat platform in memory, as the feature of a channel: with buttons or without, with answers that are seen being written or
 * without, and people who say what a test wants.
 */
import {
  channelKeys,
  type Channel,
  defineFeature,
  type Drafts,
  type FeatureContext,
  type FeatureDefinition,
  type Inbound,
  type Kept,
  type OutgoingMessage,
  type PostedPrompt,
  type Prompt,
  type SentMessage,
  SvcError,
} from "@svc/contract";
import * as v from "valibot";

export interface FakeChatOptions {
  /** Questions have buttons. */
  readonly buttons?: boolean;
  /** Each of them opens a thread, named like the prompt. */
  readonly threads?: boolean;
  /** Answers are seen being written; at least `intervalMs`, or a second, between two edits. */
  readonly drafts?: { readonly mode: Drafts["mode"]; readonly intervalMs?: number };
}

export interface FakeEdit {
  readonly sent: SentMessage;
  readonly text: string;
}

export interface FakeChat {
  readonly definition: FeatureDefinition;
  /** The channel itself, for tests without a lifecycle. */
  readonly channel: Channel;
  /** In order; a question that was posted with buttons is not among them. */
  readonly sent: readonly OutgoingMessage[];
  readonly posted: readonly { readonly message: OutgoingMessage; readonly prompt: Prompt }[];
  readonly closed: readonly { readonly posted: PostedPrompt; readonly outcome: string }[];
  /** Edits that it took, in order. */
  readonly edits: readonly FakeEdit[];
  /** What people read there now: of each message that was sent its newest text. */
  readonly shown: readonly string[];
  /** What the platform does before it takes a message: a dead one throws, a slow one waits. */
  mood: (message: OutgoingMessage) => void | Promise<void>;
  /** The same before it takes an edit. */
  editMood: (edit: FakeEdit, signal: AbortSignal) => void | Promise<void>;
  /** A person writes. Throws before the feature is made. */
  say(text: string, more?: Partial<Inbound>): Promise<readonly Kept[]>;
  /** A person presses a button of the question that was posted last. */
  press(approved: boolean, more?: Partial<Inbound>): Promise<readonly Kept[]>;
}

/** `id`: of the channel; its feature is `channel-<id>`, its section `channels_config.<id>`. */
export function fakeChat(id: string, options: FakeChatOptions = {}): FakeChat {
  const sent: OutgoingMessage[] = [];
  const posted: { message: OutgoingMessage; prompt: Prompt }[] = [];
  const closed: { posted: PostedPrompt; outcome: string }[] = [];
  const edits: FakeEdit[] = [];
  const shown = new Map<string, string>();
  let context: Pick<FeatureContext, "receive"> | undefined;
  let ids = 0;

  const receive = async (inbound: Inbound): Promise<readonly Kept[]> => {
    if (!context) throw new Error("nobody has made the feature yet");
    return context.receive([inbound]);
  };
  const inboundOf = (text: string, more: Partial<Inbound>): Inbound => ({
    id: `said-${(ids += 1)}`,
    conversation: { channel: id, id: "room" },
    sender: "alice",
    text,
    ...more,
  });
  const channel: Channel = {
    async send(message, signal) {
      signal.throwIfAborted();
      await chat.mood(message);
      const platformId = `${id}-${sent.push(message)}`;
      shown.set(platformId, message.text);
      return { platformId };
    },
    ...(options.drafts && {
      drafts: {
        mode: options.drafts.mode,
        intervalMs: () => options.drafts?.intervalMs ?? 1_000,
        async edit(message, text, signal) {
          signal.throwIfAborted();
          await chat.editMood({ sent: message, text }, signal);
          if (!shown.has(message.platformId)) throw new SvcError("DELIVERY_REFUSED");
          shown.set(message.platformId, text);
          edits.push({ sent: message, text });
        },
      },
    }),
    ...(options.buttons === true && {
      prompts: {
        async post(message, prompt, signal) {
          signal.throwIfAborted();
          await chat.mood(message);
          const platformId = `${id}-question-${posted.push({ message, prompt })}`;
          const opened = options.threads === true && { opened: { ...message.conversation, thread: prompt.id } };
          return { platformId, ...opened };
        },
        async close(question, outcome) {
          closed.push({ posted: question, outcome });
        },
      },
    }),
  };
  const definition = defineFeature({
    id: `channel-${id}`,
    section: `channels_config.${id}`,
    config: v.strictObject(channelKeys),
    load: async () => ({
      create(made: FeatureContext) {
        context = made;
        return { channel };
      },
    }),
  }) as unknown as FeatureDefinition;
  const chat: FakeChat = {
    definition,
    channel,
    sent,
    posted,
    closed,
    edits,
    get shown() {
      return [...shown.values()];
    },
    mood: () => undefined,
    editMood: () => undefined,
    say: (text, more = {}) => receive(inboundOf(text, more)),
    async press(approved, more = {}) {
      const last = posted.at(-1);
      if (!last) throw new Error("no question was posted");
      const { message, prompt } = last;
      const choice = { prompt: prompt.id, approved };
      const label = approved ? prompt.approve : prompt.reject;
      return receive(inboundOf(label, { conversation: message.conversation, choice, ...more }));
    },
  };
  return chat;
}
