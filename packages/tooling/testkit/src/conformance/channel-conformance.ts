/**
 * What every channel keeps when it sends. A package joins with a fake platform of its own:
 *
 *     channelConformance("channel-example", { open, message, secrets: ["token-1"] });
 */
import type { Channel, OutgoingMessage } from "@svc/contract";
import { inspect } from "node:util";
import type { CapturedLogger } from "../capture-logger.ts";
import { demand, describeChecks, outcomeOf, PROMPT_MS, told, type Check } from "../check.ts";

/** How the platform behaves: takes messages; refuses them, quoting every secret in its answer; never answers. */
export type ConformanceMood = "takes" | "refuses" | "hangs";

export interface OpenChannel {
  readonly channel: Channel;
  readonly log: CapturedLogger;
  /** The feature's shutdown. */
  shutdown?(): Promise<void>;
  /** Messages the platform got so far. */
  received(): number;
  /** Takes the fake platform down. */
  close?(): Promise<void>;
}

export interface ChannelSubject {
  /** A fresh channel, registered, against a platform of this mood. */
  readonly open: (mood: ConformanceMood) => Promise<OpenChannel>;
  readonly message: OutgoingMessage;
  /** Every secret in its configuration. */
  readonly secrets: readonly string[];
}

export function channelConformance(title: string, subject: ChannelSubject): void {
  describeChecks(`channel ${title}`, channelChecks(subject));
}

export function channelChecks({ open, message, secrets }: ChannelSubject): Check[] {
  const never = new AbortController().signal;
  const against = async (mood: ConformanceMood, check: (opened: OpenChannel) => Promise<void>) => {
    const opened = await open(mood);
    try {
      await check(opened);
    } finally {
      await opened.shutdown?.();
      await opened.close?.();
    }
  };
  const demandNoSecret = (what: string, text: string) => {
    for (const secret of secrets) demand(!text.includes(secret), `${what} shows a secret`);
  };
  return [
    {
      name: "send resolves with a receipt when the platform took the message",
      run: () =>
        against("takes", async ({ channel, received }) => {
          const outcome = await outcomeOf(() => channel.send(message, never));
          demand(outcome.kind === "resolved", `send ${outcome.kind}: ${"error" in outcome ? told(outcome.error) : ""}`);
          const { platformId } = outcome.value ?? { platformId: null };
          demand(platformId === undefined || typeof platformId === "string", "what it resolved with is no receipt");
          demand(received() > 0, "send resolved and the platform got nothing");
        }),
    },
    {
      name: "send rejects when the platform refused, and no secret is in the error or the log",
      run: () =>
        against("refuses", async ({ channel, log }) => {
          const outcome = await outcomeOf(() => channel.send(message, never));
          demand(outcome.kind === "rejected", `send ${outcome.kind}`);
          demandNoSecret("the error", everythingIn(outcome.error));
          demandNoSecret("the log", log.text());
        }),
    },
    {
      name: "send rejects at once when its signal is aborted, before or on the way",
      run: () =>
        against("hangs", async ({ channel, log }) => {
          const controller = new AbortController();
          const onTheWay = outcomeOf(() => channel.send(message, controller.signal));
          controller.abort(new Error("called off"));
          const before = await outcomeOf(() => channel.send(message, AbortSignal.abort(new Error("called off"))));
          demand(before.kind === "rejected", `with an aborted signal send ${before.kind}`);
          const { kind } = await onTheWay;
          demand(kind === "rejected", kind === "hung" ? `send goes on for ${PROMPT_MS} ms` : `send ${kind}`);
          demandNoSecret("the log", log.text());
        }),
    },
    {
      name: "nothing is sent after shutdown",
      run: () =>
        against("takes", async ({ channel, shutdown, received }) => {
          if (shutdown === undefined) return;
          await shutdown();
          const outcome = await outcomeOf(() => channel.send(message, never));
          demand(outcome.kind === "rejected", `send ${outcome.kind} after shutdown`);
          demand(received() === 0, "the platform got a message after shutdown");
        }),
    },
  ];
}

/** An error as anyone might print it: message, stack, hint, fields and causes. */
const everythingIn = (error: unknown): string =>
  inspect(error, { depth: 8, showHidden: true, getters: true, maxStringLength: null });
