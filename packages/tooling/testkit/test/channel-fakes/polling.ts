/** The same channel where nobody posts to it: it asks for what people wrote, and confirms it by what it asks next. */
import { type Inbound, SvcError } from "@svc/contract";
import { platformCall, senderGate } from "@svc/kit";
import * as v from "valibot";
import type { Context, Deps } from "./channel.ts";
import { inboundOf, UPDATE } from "./inbound.ts";
import { type Spoil, without } from "./spoil.ts";

/** What a poll is made of; the tests break one at a time. */
export interface Polling {
  /** Those after this number, once there are any; whatever is not after it is confirmed. */
  ask(after: number, signal: AbortSignal): Promise<readonly Update[]>;
  /** Those that are messages to us. */
  read(updates: readonly Update[]): readonly Inbound[];
  keep(messages: readonly Inbound[]): Promise<void>;
  /** What `run` rejects with. */
  failure(error: unknown): unknown;
}

export type Update = v.InferOutput<typeof NUMBERED>;

export const polling =
  (
    change: (sound: Polling, context: Context, parts: Deps) => Partial<Polling> = () => ({}),
    spoil: Spoil = (parts) => parts,
  ): Spoil =>
  (parts, context) => {
    const sound = soundPolling(context);
    const steps = { ...sound, ...change(sound, context, parts) };
    return spoil(
      { ...without(parts, "ingress"), run: (signal: AbortSignal) => pollOn(steps, signal) } as Deps,
      context,
    );
  };

async function pollOn({ ask, read, keep, failure }: Polling, signal: AbortSignal): Promise<void> {
  try {
    for (let after = 0; !signal.aborted;) {
      const updates = await ask(after, signal);
      const messages = read(updates);
      if (messages.length > 0) await keep(messages);
      after = updates.at(-1)?.number ?? after;
    }
  } catch (error) {
    if (!signal.aborted) throw failure(error);
  }
}

function soundPolling({ config, clock, fetch, log, receive }: Context): Polling {
  const mayWrite = senderGate({ allowed: config.allowed, mode: "exact", log, channel: "chat" });
  return {
    async ask(after, signal) {
      const url = `${config.api_url}/updates?after=${after}`;
      const headers = { authorization: `Bearer ${config.token}` };
      const { json } = await platformCall(fetch, { url, headers, signal, nowMs: clock.now() });
      if (!v.is(UPDATES, json)) throw new SvcError("REMOTE_UNREACHABLE", "The platform's answer can't be read.");
      return json.updates;
    },
    read: (updates) => updates.flatMap((update) => inboundOf(update, mayWrite)),
    keep: async (messages) => void (await receive(messages)),
    failure(error) {
      const isFinal = error instanceof SvcError && error.code === "CHANNEL_UNAUTHORIZED";
      return isFinal ? new SvcError("FEATURE_FAILED", error.message, { cause: error }) : error;
    },
  };
}

const NUMBERED = v.object({ ...UPDATE.entries, number: v.number() });
const UPDATES = v.object({ updates: v.array(NUMBERED) });
