/** What can be wrong with what comes in by `run`. One fake each. */
import { SvcError } from "@svc/contract";
import { polling } from "./polling.ts";
import { type Broken, inSend, without } from "./spoil.ts";

const SOUND = "what a person writes is received, sound, and can be answered where it came from";
const ORDER = "messages are received in their order; a stranger's and our own are not";
const KEPT = "what can't be kept is handed over again, and what follows stays behind it";
const CONFIRMED = "a message is confirmed to the platform once it is on disk: what a kill cuts off comes again";
const ANEW = "a connection that ends is made anew: what is written meanwhile is received, and nothing twice";
const RESTART = "the next process goes on where the last one stopped";
const PRESS = "a press on a button is received: which question it answers, and whether yes; a stranger's is not";

const numbered = (after: number) => (update: { readonly number: number }) => update.number > after;

export const BROKEN_ARRIVALS: readonly Broken[] = [
  ["nothing received", SOUND, polling(() => ({ read: () => [] }))],
  ["another text", SOUND, polling(({ read }) => ({ read: (all) => read(all).map((one) => ({ ...one, text: "x" })) }))],
  ["no id", SOUND, polling(({ read }) => ({ read: (all) => read(all).map((one) => without(one, "id")) }))],
  ["a blank id", SOUND, polling(({ read }) => ({ read: (all) => read(all).map((one) => ({ ...one, id: " " })) }))],
  ["a run that ends", SOUND, polling(undefined, (parts) => ({ ...parts, run: async () => undefined }))],
  [
    "a place that nobody can be answered in",
    SOUND,
    polling(
      () => ({}),
      inSend((send) => (message, signal) => {
        if (message.conversation.id === "room-1" && message.text.startsWith("An answer"))
          throw new SvcError("DELIVERY_REFUSED");
        return send(message, signal);
      }),
    ),
  ],
  ["the last one first", ORDER, polling(({ read }) => ({ read: (all) => read(all).toReversed() }))],
  [
    "strangers heard",
    ORDER,
    polling(({ read }) => ({
      read: (all) => read(all.map((one) => (one.from === "mallory" ? { ...one, from: "alice" } : one))),
    })),
  ],
  [
    "answering itself",
    ORDER,
    polling(({ read }) => ({
      read: (all) => read(all.map((one) => (one.from === "bot" ? { ...one, from: "alice" } : one))),
    })),
  ],
  [
    "a line for each stranger",
    ORDER,
    polling(({ read }, { log }) => ({
      read(all) {
        for (const { from } of all) if (from === "mallory") log.info("this one is not on the allowlist");
        return read(all);
      },
    })),
  ],
  [
    "what could not be kept forgotten",
    KEPT,
    polling(({ keep }) => ({ keep: (messages) => keep(messages).catch(() => undefined) })),
  ],
  [
    "what could not be kept put behind",
    KEPT,
    polling(({ keep }, { clock }) => ({
      keep: (messages) =>
        keep(messages).catch(() => {
          const again = (): unknown => clock.after(1_000, () => void keep(messages).catch(again));
          again();
        }),
    })),
  ],
  [
    "a full disk for good",
    KEPT,
    polling(({ failure }) => ({
      failure: (error) =>
        error instanceof SvcError && error.code === "BUSY" ? new SvcError("FEATURE_FAILED") : failure(error),
    })),
  ],
  [
    "confirmed before it is kept",
    CONFIRMED,
    polling(({ keep }) => ({ keep: async (messages) => void keep(messages).catch(() => undefined) })),
  ],
  ["a lost connection that is final", ANEW, polling(() => ({ failure: () => new SvcError("FEATURE_FAILED") }))],
  ["a lost connection in the runtime's words", ANEW, polling(() => ({ failure: () => new TypeError("fetch failed") }))],
  [
    "a lost connection for a refusal of a message",
    ANEW,
    polling(() => ({ failure: () => new SvcError("DELIVERY_REFUSED") })),
  ],
  [
    "all of it again, as something new",
    ANEW,
    polling(({ ask, read }) => {
      const all: Awaited<ReturnType<typeof ask>>[number][] = [];
      let asked = 0;
      return {
        async ask(after, signal) {
          if (after === 0 && all.length > 0) return ((asked += 1), [...all]);
          all.push(...(await ask(after, signal)));
          return all.filter(numbered(after));
        },
        read: (updates) => read(updates).map((one) => ({ ...one, id: `${one.id} ${asked}` })),
      };
    }),
  ],
  [
    "only what is written from now on",
    RESTART,
    polling(({ ask }) => {
      let hasBegun = false;
      return {
        async ask(after, signal) {
          if (hasBegun) return ask(after, signal);
          hasBegun = true;
          // All that waits, which is none of ours.
          const updates = await ask(after, signal);
          return updates[0]?.number === 1 ? updates : [{ ...updates[0]!, number: updates.at(-1)!.number, from: "bot" }];
        },
      };
    }),
  ],
  [
    "a press taken for a message",
    PRESS,
    polling(({ read }) => ({ read: (all) => read(all).map((one) => without(one, "choice")) })),
  ],
  [
    "always yes",
    PRESS,
    polling(({ read }) => ({
      read: (all) => read(all).map((one) => (one.choice ? { ...one, choice: { ...one.choice, approved: true } } : one)),
    })),
  ],
  [
    "anybody's press",
    PRESS,
    polling(({ read }) => ({
      read: (all) => read(all.map((one) => (one.button === undefined ? one : { ...one, from: "alice" }))),
    })),
  ],
];
