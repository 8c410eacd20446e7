/** What deliveries are made with. */
import type { Clock, Logger, MessageEvent } from "@svc/contract";
import type { Store } from "@svc/store";
import type { MessagingSettings } from "../types.ts";
import type { FileOpener } from "./outgoing-file.ts";

export interface DispatcherOptions {
  readonly store: Pick<Store, "outbox" | "write" | "writable">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly publish: (event: MessageEvent) => void;
  readonly openFile: FileOpener;
  /** 0 ≤ x < 1, for the jitter of retries. */
  readonly random: () => number;
  readonly settings: DeliverySettings;
}

export type DeliverySettings = Pick<MessagingSettings, "channels" | "isUp" | "maxAttempts">;
