/** What can be wrong with questions. One fake each. */
import { SvcError } from "@svc/contract";
import { type Broken, DEAF, hang, inChannel, inMessages, inPrompts } from "./spoil.ts";

const POSTED = "post resolves with a receipt once people see the question and both its buttons";
const IN_WORDS = "a question that has no room for buttons goes out in words, whole";
const REFUSED = "what the platform refuses of a question is told as of a message";
const ABORT = "post ends at once when it is aborted, before or on the way";
const CLOSE = "close ends soundly whatever the platform says, and at once when it is aborted";
const CLOSED = "close takes the buttons off, and people see how it ended";
const PRESS = "a press on a button says which question it answers, and whether yes; a stranger's is not heard";

export const BROKEN_PROMPTS: readonly Broken[] = [
  [
    "no buttons",
    POSTED,
    inChannel(({ send }) => ({ prompts: { post: (message, _, signal) => send(message, signal) } })),
  ],
  [
    "one button of two",
    POSTED,
    inPrompts(({ post }) => ({ post: (message, prompt, signal) => post(message, { ...prompt, reject: "" }, signal) })),
  ],
  [
    "no receipt",
    POSTED,
    inPrompts(({ post }) => ({ post: async (...all) => (await post(...all), undefined as never) })),
  ],
  [
    "it opens what is another channel's",
    POSTED,
    inPrompts(({ post }) => ({
      post: async (...all) => ({ ...(await post(...all)), opened: { channel: "other", id: "t" } }),
    })),
  ],
  [
    "a title without its question",
    POSTED,
    inPrompts(({ post }) => ({ post: (message, prompt, signal) => post(message, { ...prompt, message: "" }, signal) })),
  ],
  [
    "a long question cut",
    IN_WORDS,
    inPrompts(({ post }) => ({
      post: (message, prompt, signal) => post(message, { ...prompt, message: prompt.message.slice(0, 100) }, signal),
    })),
  ],
  [
    "long labels refused",
    IN_WORDS,
    inPrompts(({ post }) => ({
      post: async (message, prompt, signal) => {
        if (prompt.approve.length > 40) throw new SvcError("DELIVERY_REFUSED");
        return post(message, prompt, signal);
      },
    })),
  ],
  [
    "all errors refusals",
    REFUSED,
    inPrompts(({ post }) => ({
      post: (...all) => post(...all).catch(() => Promise.reject(new SvcError("DELIVERY_REFUSED"))),
    })),
  ],
  [
    "a question posted again by itself",
    REFUSED,
    inPrompts(({ post }) => ({
      post: (message, prompt, signal) =>
        post(message, prompt, signal).catch(async (error: unknown) => {
          await post({ ...message, deliveryId: crypto.randomUUID() }, prompt, signal).catch(() => undefined);
          throw error;
        }),
    })),
  ],
  ["a post that goes on", ABORT, inPrompts(({ post }) => ({ post: (message, prompt) => post(message, prompt, DEAF) }))],
  [
    "an error of the runtime's for a question without an id",
    CLOSE,
    inPrompts(({ close }) => ({
      close: (posted, outcome, signal) => (posted.platformId!.trim(), close!(posted, outcome, signal)),
    })),
  ],
  [
    "the token in an error of close",
    CLOSE,
    inPrompts(({ close }, { config }) => ({
      close: (...all) => close!(...all).catch(() => Promise.reject(new SvcError("DELIVERY_FAILED", config.token))),
    })),
  ],
  [
    "a close that goes on",
    CLOSE,
    inPrompts(({ close }) => ({ close: (posted, outcome) => close!(posted, outcome, DEAF) })),
  ],
  ["a close that ends never", CLOSE, inPrompts(() => ({ close: () => hang() }))],
  ["buttons left on", CLOSED, inPrompts(() => ({ close: async () => undefined }))],
  [
    "nobody told how it ended",
    CLOSED,
    inPrompts(({ close }) => ({ close: (posted, _, signal) => close!(posted, "over", signal) })),
  ],
  [
    "another key each time",
    "a question that is posted again with the same delivery id arrives once",
    inPrompts(({ post }) => ({
      post: (message, prompt, signal) => post({ ...message, deliveryId: crypto.randomUUID() }, prompt, signal),
    })),
  ],
  ["a press taken for a message", PRESS, inMessages((message) => ({ ...message, choice: undefined }))],
  ["always yes", PRESS, inMessages((message) => ({ ...message, choice: { prompt: "ap-12", approved: true } }))],
  ["another question", PRESS, inMessages((message) => ({ ...message, choice: { prompt: "ap-1", approved: true } }))],
  [
    "a choice of nothing",
    "whatever JSON comes, parse does not fail, and what it finds is sound",
    inMessages((message) => ({ ...message, choice: { prompt: "Not An Id", approved: true } })),
  ],
];
