/** An outbox on disk with its dispatcher, and a platform whose moods a test chooses. */
import { join } from "node:path";
import { type Channel, type Conversation, type MessageEvent, type OutgoingMessage, SvcError } from "@svc/contract";
import { type Tracer, NO_TRACER, currentScope } from "@svc/runtime";
import { keyOfConversation } from "@svc/kit";
import { type Delivery, type NewDelivery, openStore, type Store } from "@svc/store";
import { captureLogger, type CapturedLogger } from "@svc/testkit/capture-logger";
import { type FakeClock, fakeClock, settled } from "@svc/testkit/fake-clock";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { type DeliverySettings, type OutboxDeps, OutboxDispatcher } from "../src/outbox.ts";
import { SpokenAnswers } from "../src/speech/speech.ts";

/** What a platform does with one message. */
export type Mood = "take" | "hang" | "deaf" | SvcError | Error | Promise<void>;

export interface Platform extends Channel {
  /** Asked for each message; without an answer it takes it. */
  mood: (message: OutgoingMessage) => Mood | undefined;
  /** What reached it, whatever became of it. */
  readonly asked: OutgoingMessage[];
  /** Texts that it took, in order. */
  readonly taken: string[];
}

export function platform(more: Partial<Channel> = {}): Platform {
  const self: Platform = {
    mood: () => "take",
    asked: [],
    taken: [],
    async send(message, signal) {
      self.asked.push(message);
      const mood = self.mood(message) ?? "take";
      if (mood instanceof Error) throw mood;
      if (mood === "deaf") await new Promise(() => {});
      if (mood === "hang")
        await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      if (mood instanceof Promise) await mood;
      self.taken.push(message.text);
      return { platformId: `p-${message.text}` };
    },
    ...more,
  };
  return self;
}

export interface DeliveryFixture extends Disposable {
  readonly clock: FakeClock;
  readonly log: CapturedLogger;
  readonly events: MessageEvent[];
  readonly store: Store;
  readonly chat: Platform;
  readonly dispatcher: OutboxDispatcher;
  /** Kept, not yet told to the dispatcher. */
  keep(...rows: NewDelivery[]): Promise<Delivery[]>;
  /** Kept, told, and all that follows from it at this instant has happened. */
  post(...rows: NewDelivery[]): Promise<Delivery[]>;
  /** Settings as they are, but for these. */
  settings(more?: Partial<DeliverySettings>): DeliverySettings;
  row(n: number): Delivery;
}

export interface DeliveryFixtureOptions extends Partial<
  Pick<OutboxDeps, "openFile" | "random" | "prompts" | "closePrompt">
> {
  readonly settings?: Partial<DeliverySettings>;
  readonly tracer?: (clock: FakeClock) => Tracer;
  readonly chat?: Platform;
  /** What the dispatcher is given in place of the store. */
  readonly wrap?: (store: Store) => Store;
  /** Not yet started. */
  readonly idle?: boolean;
}

/** The first thing that a fixture must survive is that it is closed while its dispatcher still rests: `using` stops it. */
export function deliveryFixture(options: DeliveryFixtureOptions = {}): DeliveryFixture {
  const home = temporaryHome();
  const clock = fakeClock();
  const log = captureLogger();
  const events: MessageEvent[] = [];
  const store = openStore({
    file: join(home.path, "svc.db"),
    clock,
    idempotency: { ttlMs: 300_000, maxKeys: 10 },
    traceparent: () => currentScope().traceparent,
  });
  const { chat = platform(), wrap = (same) => same } = options;
  const settings = (more: Partial<DeliverySettings> = {}): DeliverySettings => ({
    channels: new Map([["chat", chat]]),
    isUp: () => true,
    maxAttempts: 12,
    ...options.settings,
    ...more,
  });
  const dispatcher = new OutboxDispatcher({
    store: wrap(store),
    clock,
    log,
    tracer: options.tracer?.(clock) ?? NO_TRACER,
    publish: (event) => void events.push(event),
    spoken: new SpokenAnswers(() => Promise.reject(new Error("no speech in this test"))),
    openFile: options.openFile ?? (() => Promise.reject(new Error("no files in this test"))),
    random: options.random ?? (() => 1),
    settings: settings(),
    prompts: options.prompts,
    ...(options.closePrompt && { closePrompt: options.closePrompt }),
  });
  if (options.idle !== true) dispatcher.start();
  const keep = (...rows: NewDelivery[]) => store.write(() => store.outbox.add(rows, clock.now()));
  return {
    clock,
    log,
    events,
    store,
    chat,
    dispatcher,
    keep,
    async post(...rows) {
      const kept = await keep(...rows);
      dispatcher.wake(kept);
      await quiet();
      return kept;
    },
    settings,
    row: (n) => store.outbox.read(n)!,
    [Symbol.dispose]() {
      void dispatcher.stop(0);
      store.close();
      home.remove();
    },
  };
}

export const talk = (id: string, thread?: string): Conversation => ({
  channel: "chat",
  id,
  ...(thread !== undefined && { thread }),
});

export const say = (id: string, text: string, more: Partial<NewDelivery> = {}): NewDelivery => ({
  conversation: talk(id),
  conversationKey: keyOfConversation(talk(id)),
  text,
  files: [],
  ...more,
});

export const down = (retryAfterMs?: number): SvcError =>
  new SvcError("REMOTE_UNREACHABLE", "words of the platform", retryAfterMs === undefined ? {} : { retryAfterMs });

/** Everything that can happen at this instant has: commits and sends take a few turns of the event loop each. */
export async function quiet(): Promise<void> {
  for (let turn = 0; turn < 40; turn += 1) await settled();
}
