/** One channel of a package against its fake platform, as the service would make it. */
import type {
  Channel,
  Contributions,
  FeatureContext,
  FeatureDefinition,
  Ingress,
  OutgoingMessage,
} from "@svc/contract";
import { channelIdOf } from "@svc/runtime";
import { createGuardedFetch, createGuardedResolve } from "@svc/kit";
import * as v from "valibot";
import { captureLogger, type CapturedLogger } from "../../capture-logger.ts";
import { PROMPT_MS } from "../../check.ts";
import { fakeClock } from "../../fake-clock.ts";
import { fakeFeatureContext } from "../../feature-context.ts";
import { ownUrls } from "../../own-urls.ts";
import { secretsOf } from "./secrets.ts";
import type { ChannelPlatform, ChannelSubject, Section } from "./subject.ts";

/** What all checks of one package share. */
export interface Bench {
  readonly definition: FeatureDefinition;
  readonly subject: ChannelSubject;
  /** How long something may take that must happen at once. */
  readonly promptMs: number;
}

export interface OpenChannel {
  readonly platform: ChannelPlatform;
  readonly section: Section;
  readonly secrets: readonly string[];
  readonly id: string;
  readonly made: Contributions;
  readonly channel: Channel;
  readonly log: CapturedLogger;
  /** How often it used what it may keep, and the clock. */
  touched(): number;
  /** `METHOD url` of every request that it sent by the client it was handed, in order. */
  readonly asked: readonly string[];
  message(text?: string, more?: Partial<OutgoingMessage>): OutgoingMessage;
  shutdown(): Promise<void>;
}

/** What it is handed, where that outlives it. */
export type ContextOverrides = Partial<Pick<FeatureContext, "clock" | "state" | "secrets" | "receive">>;

export const benchOf = (
  definition: FeatureDefinition,
  subject: ChannelSubject,
  promptMs: number = PROMPT_MS,
): Bench => ({
  definition,
  subject,
  promptMs,
});

/** Runs `work` with a registered channel. `change`: of its section. */
export async function withChannel(
  bench: Bench,
  work: (opened: OpenChannel) => Promise<void>,
  change: (section: Section) => Section = (section) => section,
): Promise<void> {
  const platform = await bench.subject.platform();
  const opened = await open(bench, platform, change(bench.subject.config(platform)));
  try {
    await opened.made.register?.(new AbortController().signal);
    await work(opened);
  } finally {
    await opened.shutdown();
    await platform.close();
  }
}

/** Not registered yet. */
export async function open(
  { definition, subject }: Bench,
  platform: ChannelPlatform,
  section: Section,
  given: ContextOverrides = {},
): Promise<OpenChannel> {
  const log = captureLogger();
  const { clock = fakeClock() } = given;
  const config: unknown = v.parse(definition.config ?? v.undefined(), section);
  const net = { allowPrivate: [], exempt: ownUrls(config) };
  // A clock that outlives the channel is moved on while requests are under way: they keep the real time.
  const fetch = createGuardedFetch({ ...net, log, ...(given.clock === undefined && { clock }) });
  const { publicUrl } = subject;
  const asked: string[] = [];
  const recorded: FeatureContext["fetch"] = (url, options) => {
    asked.push(`${options?.method ?? "GET"} ${url}`);
    return fetch(url, options);
  };
  const reach = { fetch: recorded, resolve: createGuardedResolve(net), publicUrl };
  const context = { ...fakeFeatureContext(config, reach), ...given, log };
  let touched = 0;
  const counted = <T extends object>(target: T): T =>
    new Proxy(target, { get: (of, key) => ((touched += 1), Reflect.get(of, key) as unknown) });
  const made = (await definition.load()).create({
    ...context,
    clock: counted(clock),
    state: counted(context.state),
    secrets: counted(context.secrets),
    async receive(messages, more = {}) {
      touched += 1;
      const outcomes = await context.receive(messages, more);
      for (const [name, value] of Object.entries(more.state ?? {})) await context.state.set(name, value);
      return outcomes;
    },
  });
  if (made.channel === undefined) throw new Error("it contributes no channel");
  const id = channelIdOf(definition);
  const conversation = { channel: id, ...subject.conversation(platform) };
  let messages = 0;
  let closing: Promise<void> | undefined;
  return {
    platform,
    section,
    secrets: secretsOf(definition, section),
    id,
    made,
    channel: made.channel,
    log,
    touched: () => touched,
    asked,
    message: (text = "Hello", more = {}) => ({
      conversation,
      text,
      deliveryId: `delivery-${(messages += 1)}`,
      ...more,
    }),
    shutdown: () => (closing ??= made.shutdown?.() ?? Promise.resolve()),
  };
}

/** The ingress that the subject's deliveries are for. */
export function ingressOf({ made }: OpenChannel, { deliveries }: ChannelSubject): Ingress {
  const all = made.ingress ?? [];
  const found = deliveries?.path === undefined ? all[0] : all.find(({ path }) => path === deliveries.path);
  if (found === undefined)
    throw new Error("there is no such ingress; leave `deliveries` out for a channel without one");
  return found;
}
