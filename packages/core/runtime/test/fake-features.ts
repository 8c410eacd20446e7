/** Features made of a few lines, and a lifecycle around them. */
import type { ClientId, Contributions, FeatureContext, FeatureDefinition, Logger, SvcEvent, Tool } from "@svc/contract";
import * as v from "valibot";
import { Lifecycle, type LifecycleOptions } from "../src/index.ts";
import { FakeClock } from "./fake-clock.ts";

export const tool = (name: string): Tool => ({
  name,
  description: "Does nothing.",
  input: v.strictObject({}),
  approval: "auto",
  run: () => Promise.resolve(null),
});

export function feature(
  id: string,
  contributions: Contributions | ((context: FeatureContext) => Contributions),
  rest: Partial<FeatureDefinition> = {},
): FeatureDefinition {
  const create = typeof contributions === "function" ? contributions : () => contributions;
  return { id, load: () => Promise.resolve({ create }), ...rest };
}

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

export function captureLog(): { log: Logger; lines: LogLine[] } {
  const lines: LogLine[] = [];
  const at =
    (level: string): Logger["info"] =>
    (message, fields) =>
      lines.push({ ...fields, level, message });
  return { log: { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") }, lines };
}

export function lifecycleOf(definitions: readonly FeatureDefinition[], options: Partial<LifecycleOptions> = {}) {
  const clock = new FakeClock();
  const { log, lines } = captureLog();
  const enabled = definitions.map((definition) => ({ definition, config: undefined }));
  const lifecycle = new Lifecycle({ definitions, enabled, log, clock, random: () => 0.5, ...options });
  return { lifecycle, clock, lines };
}

export const neverAborted = (): AbortSignal => new AbortController().signal;

export const anEvent: SvcEvent = {
  type: "text-delta",
  turnId: "t1",
  sessionId: "s1",
  conversationId: "c1",
  offset: 0,
  owner: "client" as ClientId,
  text: "hello",
};
