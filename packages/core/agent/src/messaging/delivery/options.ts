/** What deliveries are made with. */
import type { Clock, ErrorCode, Logger, MessageEvent } from "@svc/contract";
import type { Delivery } from "@svc/store";
import type { MessagingSettings } from "../types.ts";
import type { FileOpener } from "./outgoing-file.ts";

export interface DispatcherOptions {
  readonly store: DeliveryStore;
  readonly clock: Clock;
  readonly log: Logger;
  readonly publish: (event: MessageEvent) => void;
  readonly openFile: FileOpener;
  /** 0 ≤ x < 1, for the jitter of retries. */
  readonly random: () => number;
  readonly settings: DeliverySettings;
}

export type DeliverySettings = Pick<MessagingSettings, "channels" | "isUp" | "maxAttempts">;

export interface DeliveryStore {
  readonly outbox: {
    waiting(): readonly { readonly n: number; readonly lane: string; readonly channel: string }[];
    read(n: number): Delivery | undefined;
    sent(n: number, platformId: string | undefined, nowMs: number): void;
    retry(n: number, code: ErrorCode, notBeforeMs: number): void;
    dead(n: number, code: ErrorCode, nowMs: number): void;
  };
  write<T>(change: () => T): Promise<T>;
  writable(): boolean;
}
