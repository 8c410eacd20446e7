/** Messaging as a process has it: a store on disk, an agent whose model is a function, a platform whose moods a test chooses. */
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Content } from "@ai-sdk/provider";
import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import type { ClientId, Inbound, MessageEvent, TurnEvent } from "@svc/contract";
import { type InboxMessage, openStore, type Store } from "@svc/store";
import type { CapturedLogger } from "@svc/testkit/capture-logger";
import { type FakeClock, fakeClock } from "@svc/testkit/fake-clock";
import { fakeWorkspace } from "@svc/testkit/fake-workspace";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { createMessaging, type Messaging, type MessagingSettings } from "../src/index.ts";
import { type Agent } from "@svc/agent";
import type { MessagingOptions } from "../src/messaging.ts";
import { type Desk, desk } from "./approvals-desk.ts";
import { type Platform, platform, quiet } from "./delivery-fixture.ts";
import {
  type AgentFixture,
  agentFixture,
  type AgentFixtureOptions,
  text,
  traceparentNow,
} from "@svc/agent/agent-fixture";

export type Think = (
  options: LanguageModelV4CallOptions,
) => Promise<LanguageModelV4Content[]> | LanguageModelV4Content[];

/** 10 tokens in and 5 out for each answer. */
export function thinking(think: Think): LanguageModelV4 & { asked: LanguageModelV4CallOptions[] } {
  const asked: LanguageModelV4CallOptions[] = [];
  const none = { noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
  const usage = {
    inputTokens: { ...none, total: 10 },
    outputTokens: { text: undefined, reasoning: undefined, total: 5 },
  };
  const finishReason = { unified: "stop", raw: undefined } as const;
  return {
    asked,
    specificationVersion: "v4",
    provider: "test",
    modelId: "thinking",
    supportedUrls: {},
    async doGenerate(options) {
      const { abortSignal: _, ...kept } = options;
      asked.push(structuredClone(kept));
      return { content: await think(options), finishReason, usage, warnings: [] };
    },
    doStream: () => Promise.reject(new Error("nobody listens to a channel's turn")),
  };
}

/** What the model was asked last, as a text. */
export function lastAsked({ prompt }: LanguageModelV4CallOptions): string {
  const users = prompt.filter(({ role }) => role === "user");
  return (users.at(-1)!.content as { text: string }[]).map((part) => part.text).join("");
}

/** Says again what it is told. */
export const echo: Think = (options) => [text(`echo ${lastAsked(options)}`)];

/** What a provider answers with. */
export const status = (statusCode: number) =>
  Object.assign(new Error("no"), { statusCode, isRetryable: statusCode >= 429 });

/** Fails so often, then answers. */
export function failing(times: number, error: () => Error): Think {
  let left = times;
  return (options) => {
    if (left-- > 0) throw error();
    return echo(options);
  };
}

export const down = () => new Error("fetch failed", { cause: Object.assign(new Error(), { code: "ECONNREFUSED" }) });

export interface MessagingFixtureOptions extends Omit<AgentFixtureOptions, "model" | "store" | "clock"> {
  readonly think?: Think;
  /** In place of one that thinks. */
  readonly model?: AgentFixtureOptions["model"];
  readonly chat?: Platform;
  readonly settings?: Partial<MessagingSettings>;
  readonly workspace?: ReturnType<typeof fakeWorkspace>;
  readonly fetch?: MessagingOptions["fetch"];
  readonly runProgram?: MessagingOptions["runProgram"];
  /** What messaging and agent are given in place of the store. */
  readonly wrap?: (store: Store) => Store;
  /** Folder of an earlier fixture, whose database is gone on with. */
  readonly folder?: string;
  readonly clock?: FakeClock;
  /** Not yet started. */
  readonly idle?: boolean;
  /** People can be asked in the conversation. */
  readonly asks?: boolean;
}

export interface MessagingFixture extends Disposable {
  readonly folder: string;
  readonly clock: FakeClock;
  readonly log: CapturedLogger;
  readonly store: Store;
  readonly agent: Agent;
  readonly model: ReturnType<typeof thinking>;
  readonly chat: Platform;
  readonly messaging: Messaging;
  readonly events: MessageEvent[];
  readonly turns: TurnEvent[];
  readonly desk: Desk;
  /** Owners of sessions who were shut out. */
  readonly gone: Set<string>;
  /** Agents as another config would make them. */
  readonly set: AgentFixture["set"];
  settings(more?: Partial<MessagingSettings>): MessagingSettings;
  /** Kept, and all that follows from it at this instant has happened. */
  receive(...messages: Inbound[]): Promise<void>;
  /** Time goes by, and whatever needs time and the disk in turn gets both. */
  pass(ms: number): Promise<void>;
  row(n: number): InboxMessage;
  /** By message: what goes out for it. */
  answersTo(n: number): string[];
}

export function messagingFixture(options: MessagingFixtureOptions = {}): MessagingFixture {
  const {
    think = echo,
    chat = platform(),
    clock = fakeClock(),
    wrap = (same) => same,
    workspace,
    fetch,
    runProgram,
    ...own
  } = options;
  const home = options.folder === undefined ? temporaryHome() : undefined;
  const folder = options.folder ?? home!.path;
  const idempotency = { ttlMs: 300_000, maxKeys: 10 };
  const real = openStore({ file: join(folder, "svc.db"), clock, idempotency, traceparent: traceparentNow });
  const store = wrap(real);
  const model = thinking(think);
  const { agent, log, events: turns, set } = agentFixture({ ...own, model: options.model ?? model, store, clock });
  const events: MessageEvent[] = [];
  const gone = new Set<string>();
  const settings = (more: Partial<MessagingSettings> = {}): MessagingSettings => ({
    channels: new Map([["chat", chat]]),
    isUp: () => true,
    agentOf: () => undefined,
    targetsOf: () => ({ allowed: [], notification: undefined }),
    maxAttempts: 12,
    maxParallelTurns: 4,
    transcription: undefined,
    speech: undefined,
    spokenAnswers: () => "never",
    ...options.settings,
    ...more,
  });
  const people = desk(store, clock, (rows) => messaging.wake(rows));
  const { replies, askIn, prompts } = people;
  const messaging: Messaging = createMessaging({
    ...(options.asks === true && { replies, askIn, prompts }),
    ...(own.tracer && { tracer: own.tracer }),
    store,
    agent,
    clock,
    log,
    identity: {
      channel: (channel) => `channel ${channel}` as ClientId,
      sender: (channel, sender) => `${sender} of ${channel}` as ClientId,
      ofSession: (owner) => ({ owner: owner as ClientId, clientId: owner as ClientId, isGone: gone.has(owner) }),
    },
    settings: settings(),
    workspaceOf: () => workspace,
    fetch: fetch ?? (() => Promise.reject(new Error("no network in this test"))),
    runProgram: runProgram ?? (() => Promise.reject(new Error("no programs in this test"))),
    publish: (event) => void events.push(event),
    redact: options.redact ?? ((same) => same),
    random: () => 1,
  });
  if (options.idle !== true) messaging.start();
  return {
    folder,
    clock,
    log,
    store,
    agent,
    model,
    chat,
    messaging,
    events,
    turns,
    desk: people,
    gone,
    set,
    settings,
    async receive(...messages) {
      await messaging.receive("chat", messages);
      await quiet();
    },
    async pass(ms) {
      for (let left = ms; left > 0; left -= 500) {
        await clock.advance(Math.min(500, left));
        await quiet();
      }
    },
    row: (n) => real.inbox.read(n)!,
    answersTo: (n) => real.outbox.ofTurn(real.inbox.read(n)!.turnId).map((delivery) => delivery.text),
    [Symbol.dispose]() {
      void messaging.stop(0);
      real.close();
      home?.remove();
    },
  };
}

export const said = (words: string, more: Partial<Inbound> = {}): Inbound => ({
  conversation: { channel: "chat", id: "room" },
  sender: "+49170",
  text: words,
  ...more,
});

export const saidIn = (room: string, words: string, more: Partial<Inbound> = {}): Inbound =>
  said(words, { conversation: { channel: "chat", id: room }, ...more });

/** What a start finds that comes after a kill at this instant: what was committed, and nothing else. */
export function afterKill(folder: string, target: string): void {
  for (const file of ["svc.db", "svc.db-wal"]) {
    const from = join(folder, file);
    if (existsSync(from)) cpSync(from, join(target, file));
  }
}

export { quiet };
