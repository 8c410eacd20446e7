/** Ways to break one thing of a sound channel. */
import { type Channel, type Ingress, type Parsed, type RawRequest, SvcError, type Verdict } from "@svc/contract";
import type { Context, Deps } from "./channel.ts";

export type Spoil = (parts: Deps, context: Context) => Deps;

export type Broken = readonly [fake: string, rule: string, spoil: Spoil];

type Send = Channel["send"];
type Media = NonNullable<Channel["media"]>;
type DraftsFacet = NonNullable<Channel["drafts"]>;
type PromptsFacet = NonNullable<Channel["prompts"]>;

export const inChannel =
  (change: (channel: Channel, context: Context) => Partial<Channel>): Spoil =>
  (parts, context) => ({ ...parts, channel: { ...parts.channel, ...change(parts.channel, context) } });

export const inSend = (change: (send: Send, context: Context) => Send): Spoil =>
  inChannel(({ send }, context) => ({ send: change(send, context) }));

export const inMedia = (change: (media: Media, context: Context) => Partial<Media>): Spoil =>
  inChannel(({ media }, context) => ({ media: { ...(media as Media), ...change(media as Media, context) } }));

export const inPrompts = (change: (prompts: PromptsFacet, context: Context) => Partial<PromptsFacet>): Spoil =>
  inChannel(({ prompts }, context) => ({ prompts: { ...prompts!, ...change(prompts!, context) } }));

export const inDrafts = (change: (drafts: DraftsFacet, context: Context) => Partial<DraftsFacet>): Spoil =>
  inChannel(({ drafts }, context) => ({ drafts: { ...drafts!, ...change(drafts!, context) } }));

export const inIngress =
  (change: (ingress: Ingress, context: Context) => Partial<Ingress>): Spoil =>
  (parts, context) => ({ ...parts, ingress: { ...parts.ingress, ...change(parts.ingress, context) } });

export const inVerify = (change: (verdict: Verdict, request: RawRequest, context: Context) => Verdict): Spoil =>
  inIngress(({ verify }, context) => ({ verify: (request) => change(verify(request), request, context) }));

export const inParse = (change: (parse: Ingress["parse"], context: Context) => Ingress["parse"]): Spoil =>
  inIngress(({ parse }, context) => ({ parse: change(parse, context) }));

/** Of each message that was found. */
export const inMessages = (change: (message: object, request: RawRequest) => object): Spoil =>
  inParse((parse) => (request) => {
    const parsed = parse(request);
    return { ...parsed, inbound: (parsed.inbound ?? []).map((message) => change(message, request)) } as Parsed;
  });

/** What is rejected with one of these codes is rejected with another. */
export const recoded =
  (from: readonly SvcError["code"][], to: SvcError["code"]): ((send: Send) => Send) =>
  (send) =>
  (message, signal) =>
    send(message, signal).catch((error: unknown) => {
      throw error instanceof SvcError && from.includes(error.code) ? new SvcError(to) : error;
    });

export const hang = (): Promise<never> => new Promise<never>(() => undefined);
export const DEAF: AbortSignal = new AbortController().signal;

export function without<T extends object, Key extends keyof T>(whole: T, ...keys: readonly Key[]): Omit<T, Key> {
  const rest: Partial<T> = { ...whole };
  for (const key of keys) delete rest[key];
  return rest as Omit<T, Key>;
}
