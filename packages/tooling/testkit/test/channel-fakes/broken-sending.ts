/** What can be wrong with sending. One fake each. */
import { SvcError } from "@svc/contract";
import { type Broken, DEAF, inChannel, inSend, recoded } from "./spoil.ts";

const RECEIPT = "send resolves with a receipt once people see the message";
const UNAUTHORIZED = "refused credentials are CHANNEL_UNAUTHORIZED";
const ABORT = "send ends at once when it is aborted, before or on the way";

export const BROKEN_SENDING: readonly Broken[] = [
  [
    "no receipt",
    RECEIPT,
    inSend(
      (send) =>
        async (...all) => (await send(...all), null as never),
    ),
  ],
  [
    "a receipt with a number",
    RECEIPT,
    inSend(
      (send) =>
        async (...all) => (await send(...all), { platformId: 5 as never }),
    ),
  ],
  [
    "it opens what is another channel's",
    RECEIPT,
    inSend((send) => async (...all) => ({ ...(await send(...all)), opened: { channel: "other", id: "room" } })),
  ],
  ["a receipt without sending", RECEIPT, inSend(() => async () => ({}))],
  [
    "a receipt with the token",
    RECEIPT,
    inSend(
      (send, { config }) =>
        async (...all) => (await send(...all), { platformId: config.token }),
    ),
  ],
  [
    "a message sent twice",
    RECEIPT,
    inSend(
      (send) => async (message, signal) => (await send(message, signal), send({ ...message, deliveryId: "b" }, signal)),
    ),
  ],
  [
    "it validates its credential for each message",
    "messages go out without asking again what registration asked",
    (parts) => {
      const { channel } = parts;
      const validate = async (signal: AbortSignal): Promise<void> => void (await channel.check?.(signal));
      const send: typeof channel.send = async (message, signal) => (
        await validate(signal),
        channel.send(message, signal)
      );
      return { ...parts, channel: { ...channel, send }, register: validate };
    },
  ],
  [
    "markup of its own",
    "a text arrives as it is: white space, markup, other scripts",
    inSend((send) => (message, signal) => send({ ...message, text: message.text.replaceAll("&", "&amp;") }, signal)),
  ],
  [
    "a refusal to be tried again",
    "a message that the platform would refuse again is DELIVERY_REFUSED",
    inSend(recoded(["DELIVERY_REFUSED"], "DELIVERY_FAILED")),
  ],
  [
    "a refusal swallowed",
    UNAUTHORIZED,
    inSend(
      (send) =>
        (...all) =>
          send(...all).catch(() => ({})),
    ),
  ],
  ["refused credentials to be tried again", UNAUTHORIZED, inSend(recoded(["CHANNEL_UNAUTHORIZED"], "DELIVERY_FAILED"))],
  [
    "the platform's words in a cause",
    UNAUTHORIZED,
    inSend(
      (send, { config }) =>
        (...all) =>
          send(...all).catch((error: SvcError) => {
            throw new SvcError(error.code, error.message, { cause: new Error(`${config.token} is not valid`) });
          }),
    ),
  ],
  [
    "the token in a field of the error, in base64",
    UNAUTHORIZED,
    inSend(
      (send, { config }) =>
        (...all) =>
          send(...all).catch((error: Error) => {
            throw Object.assign(error, {
              headers: { authorization: `Basic ${Buffer.from(config.token).toString("base64")}` },
            });
          }),
    ),
  ],
  [
    "the token in the log",
    UNAUTHORIZED,
    inSend(
      (send, { config, log }) =>
        (...all) => (log.info("sending", { token: config.token }), send(...all)),
    ),
  ],
  [
    "Retry-After dropped",
    "a rate limit is to be tried again, when the platform says",
    inSend(recoded(["DELIVERY_FAILED"], "DELIVERY_FAILED")),
  ],
  [
    "an error of the platform's taken for a refusal",
    "an error of the platform's own is to be tried again",
    inSend(recoded(["DELIVERY_FAILED"], "DELIVERY_REFUSED")),
  ],
  [
    "a dead connection told in other words",
    "a dead connection is to be tried again",
    inSend(
      (send) =>
        (...all) =>
          send(...all).catch(() => Promise.reject(new Error("socket hang up"))),
    ),
  ],
  [
    "trying again by itself",
    "an answer that got lost is to be tried again, and not by the channel itself",
    inSend(
      (send) => (message, signal) => send(message, signal).catch(() => send({ ...message, deliveryId: "b" }, signal)),
    ),
  ],
  [
    "an answer that must be JSON",
    "an answer that can't be read ends in a receipt or in an error that says what to do",
    inSend((send) => async (...all) => {
      const receipt = await send(...all);
      return receipt.platformId === undefined ? (JSON.parse("<html>") as never) : receipt;
    }),
  ],
  [
    "an abort on the way overlooked",
    ABORT,
    inSend((send) => (message, signal) => send(message, signal.aborted ? signal : DEAF)),
  ],
  [
    "an aborted signal overlooked",
    ABORT,
    inSend((send) => async (message, signal) => (signal.aborted ? {} : send(message, signal))),
  ],
  [
    "sending after shutdown",
    "nothing is sent after shutdown",
    (parts) => ({ ...parts, shutdown: () => Promise.resolve() }),
  ],
  [
    "another key each time",
    "what is sent again with the same delivery id arrives once",
    inSend((send) => {
      let times = 0;
      return (message, signal) => send({ ...message, deliveryId: `${(times += 1)}` }, signal);
    }),
  ],
  [
    "a limit beyond the platform's",
    "the platform takes a text of text.maxChars, of whatever characters",
    inChannel(() => ({ text: { maxChars: 2000 } })),
  ],
  [
    "a limit below the platform's",
    "text.maxChars is the platform's limit: it refuses one more, and the channel says so",
    inChannel(() => ({ text: { maxChars: 500 } })),
  ],
  [
    "a text cut off",
    "an over-long answer arrives whole, in parts",
    inSend((send) => (message, signal) => send({ ...message, text: message.text.slice(0, 900) }, signal)),
  ],
];
