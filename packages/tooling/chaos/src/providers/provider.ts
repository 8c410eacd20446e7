/** One provider as the harness needs it: a platform to speak to, a config for it, deliveries, and what was sent there. */
import type { SampleDelivery } from "@svc/contract";
import type { FakePlatform, PlatformRequest } from "@svc/testkit/platforms/base";
import type { Message, Writer } from "../plan/messages.ts";

/** The message of a request, and its recipient. */
export interface Sending {
  /** As the platform knows them. */
  readonly to: string;
  readonly text: string;
}

export interface Provider extends Writer, AsyncDisposable {
  readonly path: string;
  readonly platform: FakePlatform;
  /** Section of the config; `origin` is where its platform is reached. */
  section(origin: string): string;
  /** The platform delivers from now on. */
  isReady(): boolean;
  /** The platform delivers this; called for each attempt. */
  delivery(messages: readonly Message[]): SampleDelivery;
  /** How often the platform tries, as its documents say. */
  readonly attempts: number;
  /** How long it waits for an answer. */
  readonly patienceMs: number;
  /** Undefined: the request is about something else. */
  sendingOf(request: PlatformRequest): Sending | undefined;
  /** What people have got, in order. */
  received(): readonly Sending[];
  /** Who has this conversation with us, as the platform knows them. */
  addressOf(conversation: string): string;
  /** The platform takes an idempotency key, or can be asked what it has: nothing arrives twice, whatever happens. */
  readonly arrivesOnce: boolean;
}

export const numberOf = (conversation: string): number => Number(/\d+$/.exec(conversation)?.[0] ?? 0);

/** A phone number of each conversation. */
export const phoneOf = (conversation: string): string => `+1555${String(numberOf(conversation)).padStart(7, "0")}`;

export type Fields = Readonly<Record<string, unknown>>;

export const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
