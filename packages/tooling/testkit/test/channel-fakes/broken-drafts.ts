/** What can be wrong with answers that people see being written, and with marks. One fake each. */
import { SvcError } from "@svc/contract";
import { type Broken, DEAF, hang, inChannel, inDrafts, inSend, without } from "./spoil.ts";

const EDITED = "an edit changes what people see, and the same text once more is no error";
const NOT_THERE = "an edit of a message that is not there is DELIVERY_REFUSED";
const REFUSED = "what the platform refuses of an edit is told as of a message";
const ABORT = "edit ends at once when it is aborted, before or on the way";
const UNFINISHED = "an answer that breaks off anywhere is taken, as a message and as an edit";
const LONG = "an edit takes as long a text as a message";
const INTERVAL = "intervalMs is a time, and never less than draft_update_interval_ms";
const MODE = "stream_mode selects the drafts, and off turns them off";
const MARKS = "a mark is made and taken back, or that fails with a code, and ends at once when it is aborted";

const refuse = (): never => {
  throw new SvcError("DELIVERY_REFUSED");
};

export const BROKEN_DRAFTS: readonly Broken[] = [
  [
    "a new message each time",
    EDITED,
    inChannel(({ send }) => ({
      drafts: {
        mode: "partial",
        intervalMs: () => 1000,
        edit: async ({ conversation }, text, signal) =>
          void (await send({ conversation, text, deliveryId: crypto.randomUUID() }, signal)),
      },
    })),
  ],
  [
    "the new text after the old one",
    EDITED,
    inDrafts(({ edit }) => {
      let whole = "";
      return { edit: (sent, text, signal) => edit(sent, (whole += text), signal) };
    }),
  ],
  [
    "an error for the same text",
    EDITED,
    inDrafts(({ edit }) => {
      let last = "";
      return {
        edit: async (sent, text, signal) => (text === last ? refuse() : edit(sent, (last = text), signal)),
      };
    }),
  ],
  [
    "nothing to edit by",
    EDITED,
    inSend(
      (send) =>
        async (...all) =>
          without(await send(...all), "platformId"),
    ),
  ],
  [
    "what is gone taken for edited",
    NOT_THERE,
    inDrafts(({ edit }) => ({
      edit: (...all) =>
        edit(...all).catch((error: SvcError) => {
          if (error.code !== "DELIVERY_REFUSED") throw error;
        }),
    })),
  ],
  [
    "what is gone to be tried again",
    NOT_THERE,
    inDrafts(({ edit }) => ({
      edit: (...all) => edit(...all).catch(() => Promise.reject(new SvcError("DELIVERY_FAILED"))),
    })),
  ],
  [
    "what is gone written anew",
    NOT_THERE,
    inDrafts(({ edit }) => ({
      edit: (sent, text, signal) => edit({ ...sent, platformId: "platform-1" }, text, signal),
    })),
  ],
  ["all errors refusals", REFUSED, inDrafts(({ edit }) => ({ edit: (...all) => edit(...all).catch(() => refuse()) }))],
  [
    "an error for an answer that is no JSON",
    REFUSED,
    inDrafts(({ edit }) => ({
      edit: async (sent, text, signal) => (await edit(sent, text, signal), text.includes("<") && JSON.parse(text)),
    })),
  ],
  [
    "the token in an error",
    REFUSED,
    inDrafts(({ edit }, { config }) => ({
      edit: (...all) =>
        edit(...all).catch((error: SvcError) => Promise.reject(new SvcError(error.code, `with ${config.token}`))),
    })),
  ],
  ["an edit that goes on", ABORT, inDrafts(({ edit }) => ({ edit: (sent, text) => edit(sent, text, DEAF) }))],
  [
    "tags left open",
    UNFINISHED,
    inDrafts(({ edit }) => ({
      // As a formatter does that looks at the beginning of what is bold only.
      edit: async (sent, text, signal) => (/\*\*\w+$/.test(text) ? refuse() : edit(sent, text, signal)),
    })),
  ],
  [
    "half a link dropped",
    UNFINISHED,
    inSend((send) => (message, signal) => send({ ...message, text: message.text.replace(/\[.*$/s, "-") }, signal)),
  ],
  [
    "a text cut off",
    LONG,
    inDrafts(({ edit }) => ({ edit: (sent, text, signal) => edit(sent, text.slice(0, 900), signal) })),
  ],
  ["no pause", INTERVAL, inDrafts(() => ({ intervalMs: () => 0 }))],
  ["no number", INTERVAL, inDrafts(() => ({ intervalMs: () => Number.NaN }))],
  ["its own pause only", INTERVAL, inDrafts(() => ({ intervalMs: () => 1000 }))],
  ["one mode", MODE, inDrafts(() => ({ mode: "partial" }))],
  [
    "drafts although they are off",
    MODE,
    inChannel(({ drafts }) => ({ drafts: drafts ?? { mode: "partial", intervalMs: () => 1000, edit: hang } })),
  ],
];

export const BROKEN_MARKS: readonly Broken[] = [
  [
    "an error of the runtime's for an odd id",
    MARKS,
    inChannel(({ readMarks }) => ({
      readMarks: { mark: async (to, id, signal) => (BigInt(id), readMarks?.mark(to, id, signal)) },
    })),
  ],
  [
    "the token in an error of clear",
    MARKS,
    inChannel(({ readMarks }, { config }) => ({
      readMarks: {
        ...readMarks!,
        clear: (...all) =>
          readMarks!.clear!(...all).catch(() => Promise.reject(new SvcError("DELIVERY_FAILED", config.token))),
      },
    })),
  ],
  [
    "a mark that goes on",
    MARKS,
    inChannel(({ readMarks }) => ({ readMarks: { mark: (to, id) => readMarks!.mark(to, id, DEAF) } })),
  ],
  [
    "a clear that goes on",
    MARKS,
    inChannel(({ readMarks }) => ({
      readMarks: { ...readMarks!, clear: (to, id) => readMarks!.clear!(to, id, DEAF) },
    })),
  ],
];
