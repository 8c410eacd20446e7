/** Messaging whose model writes what a test lets it write, piece by piece, to a chat on which that is seen. */
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import type { Drafts } from "@svc/contract";
import { type FakeChat, fakeChat } from "@svc/testkit/fake-chat";
import { type MessagingFixture, messagingFixture, type MessagingFixtureOptions, quiet } from "./messaging-fixture.ts";

export interface Pen {
  readonly model: LanguageModelV4;
  readonly asked: LanguageModelV4CallOptions[];
  /** A piece of the answer that is being written. */
  say(text: string): Promise<void>;
  /** The answer is whole; it may call tools. */
  end(...calls: LanguageModelV4Content[]): Promise<void>;
  /** The stream breaks off. */
  fail(error: Error): Promise<void>;
}

const FINISH: LanguageModelV4StreamPart = {
  type: "finish",
  usage: {
    inputTokens: { total: 10, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 5, text: undefined, reasoning: undefined },
  },
  finishReason: { unified: "stop", raw: undefined },
};

function pen(): Pen {
  const asked: LanguageModelV4CallOptions[] = [];
  let now: ReadableStreamDefaultController<LanguageModelV4StreamPart> | undefined;
  const writing = (): NonNullable<typeof now> => {
    if (!now) throw new Error("nobody has asked the model");
    return now;
  };
  const open = (options: LanguageModelV4CallOptions): ReadableStream<LanguageModelV4StreamPart> => {
    asked.push(options);
    return new ReadableStream({
      start(controller) {
        now = controller;
        controller.enqueue({ type: "text-start", id: "1" });
        options.abortSignal?.addEventListener("abort", () => controller.error(options.abortSignal?.reason));
      },
    });
  };
  return {
    asked,
    model: {
      specificationVersion: "v4",
      provider: "test",
      modelId: "pen",
      supportedUrls: {},
      doGenerate: () => Promise.reject(new Error("an answer that is seen being written is streamed")),
      doStream: async (options) => ({ stream: open(options) }),
    },
    async say(text) {
      writing().enqueue({ type: "text-delta", id: "1", delta: text });
      await quiet();
    },
    async end(...calls) {
      const controller = writing();
      now = undefined;
      for (const call of calls) controller.enqueue(call as LanguageModelV4StreamPart);
      controller.enqueue({ type: "text-end", id: "1" });
      controller.enqueue(FINISH);
      controller.close();
      await quiet();
    },
    async fail(error) {
      const controller = writing();
      now = undefined;
      controller.error(error);
      await quiet();
    },
  };
}

export interface DraftsFixture {
  readonly made: MessagingFixture;
  readonly chat: FakeChat;
  readonly pen: Pen;
}

export interface WritingOptions extends Omit<MessagingFixtureOptions, "chat" | "model"> {
  readonly mode?: Drafts["mode"];
  /** Of an earlier fixture: the platform survives the process. */
  readonly chat?: FakeChat;
  readonly pen?: Pen;
}

/** An edit a second; `made` is the caller's to dispose of. */
export function draftsFixture({ mode = "partial", ...options }: WritingOptions = {}): DraftsFixture {
  const { chat = fakeChat("chat", { drafts: { mode } }), pen: own = pen(), settings, ...more } = options;
  const channels = new Map([["chat", chat.channel]]);
  const made = messagingFixture({ ...more, model: own.model, settings: { channels, ...settings } });
  return { made, chat, pen: own };
}
