/** One account: messages come in by sync, answers go out as events of rooms, encrypted where the room is. */
import { type Channel, type Contributions, type FeatureContext, SvcError } from "@svc/contract";
import { MEDIA_KINDS, asFinal, checkFailureOf, pathPart, sentPartsIn, withTimeout } from "@svc/kit";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createAccount, joinRoom } from "./account.ts";
import { type MatrixApi, createApi } from "./api.ts";
import { CHANNEL, type Config } from "./config.ts";
import { type Crypto, type CryptoDeps, DeviceLost, openCrypto } from "./crypto.ts";
import { MAX_FILE_BYTES, fetchMedia } from "./media.ts";
import {
  type OutboundDeps,
  TEXT_CHARS,
  draftsOf,
  eventPoster,
  messageSender,
  ownMessages,
  txnIdOf,
} from "./outbound.ts";
import { createRooms, roomPath } from "./rooms.ts";
import { runSync } from "./sync.ts";
import { type Trust, createTrust } from "./trust.ts";
import { createVerification, verificationRoutes } from "./verification.ts";
import { eventIdOf } from "./inbound.ts";

export interface Options {
  /** Default: the durable one, below `$SVC_HOME`. */
  readonly openStore?: CryptoDeps["openStore"];
}

export function create(context: FeatureContext<Config>, options: Options = {}): Contributions {
  const { config } = context;
  const { openStore = keyStoreOf(context) } = options;
  const account = createAccount(() => api, context);
  const api: MatrixApi = createApi({ homeserver: config.homeserver, token: account.token, context });
  const rooms = createRooms(api, context);
  const userId = async (signal: AbortSignal): Promise<string> => (await account.identity(signal)).userId;
  const connection = createConnection(context);
  let trust: Trust | undefined;
  const outbound: OutboundDeps = {
    api,
    rooms,
    sentParts: sentPartsIn(context),
    crypto: connection.crypto,
    userId,
    ownMessages: ownMessages(api, userId),
    config,
  };
  const post = eventPoster(outbound);
  const drafts = draftsOf(outbound, post);

  const people = config.allowed_users.filter((person) => person !== "*");
  const verification = createVerification({ crypto: outbound.crypto, userId, people, log: context.log });

  const channel: Channel = {
    text: { maxChars: TEXT_CHARS },
    send: messageSender(outbound, post),
    ...presenceOf(outbound),
    ...(drafts && { drafts }),
    media: {
      maxBytes: MAX_FILE_BYTES,
      sends: MEDIA_KINDS,
      voiceNotes: true,
      fetch: (media, write, signal) => fetchMedia({ api, context }, media, write, signal),
    },
    check: account.check,
    async setup(options, signal) {
      const done = await account.setup(options, signal);
      const recoveryKey = await trust?.makeRecoveryKey(signal);
      if (recoveryKey === undefined) return done;
      return `${done} Recovery key of the account, shown this once: ${recoveryKey}`;
    },
    verification,
  };

  const connect = async (signal: AbortSignal): Promise<void> => {
    const identity = await account.identity(signal);
    context.log.info("the platform knows this channel", { account: identity.userId });
    await joinRoom(api, config.room_id, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      context.log.warn("room_id could not be joined", { channel: CHANNEL, error: String(error) });
    });
    await runSync(
      {
        api,
        rooms,
        ownMessages: outbound.ownMessages,
        userId: identity.userId,
        crypto: connection.current(),
        findKey: async (...asked) => (await trust?.findKey(...asked)) ?? false,
        async caughtUp(until) {
          const opened = connection.current();
          if (opened) verification.announce(opened, identity.userId);
          await trust?.keepUp(until);
        },
        context,
      },
      signal,
    );
  };

  return {
    channel,
    routes: verificationRoutes(verification),
    async run(signal) {
      try {
        signal.throwIfAborted();
        const { userId: user, deviceId } = await account.identity(signal);
        if (deviceId !== undefined) {
          // The library is loaded with the first connection: the service listens by then.
          const crypto = await openCrypto({ api, userId: user, deviceId, openStore, people, log: context.log });
          connection.opened(crypto);
          await crypto.flush(signal);
          trust = createTrust({ api, crypto, userId: user, deviceId, context });
          await trust.establish(signal);
        }
        await connect(signal);
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof DeviceLost) {
          connection.lost(error);
          await account.abandonDevice();
        }
        // The library has its own words for a disk that refuses.
        const why = error instanceof SvcError ? error : (connection.current()?.refusal() ?? error);
        throw asFinal(checkFailureOf(why));
      } finally {
        trust = undefined;
        await connection.close();
      }
    },
  };
}

/** Deliveries and commands wait so long for a connection that is being made; a command is given up after 30 s. */
const CONNECT_LIMIT_MS = 20_000;

/** The open machine, for those that need one before it is there. */
function createConnection({ clock }: Pick<FeatureContext, "clock">) {
  let current: Crypto | undefined;
  let next = Promise.withResolvers<void>();
  let loss: DeviceLost | undefined;
  return {
    current: () => current,
    opened(crypto: Crypto): void {
      [current, loss] = [crypto, undefined];
      next.resolve();
    },
    /** There is no other connection before the device is another one. */
    lost(why: DeviceLost): void {
      loss = why;
      next.resolve();
    },
    async close(): Promise<void> {
      const open = current;
      current = undefined;
      next = Promise.withResolvers();
      await open?.close();
    },
    /** Throws CHANNEL_DOWN when it is missing within 20 s, and at once for a device that is lost. */
    async crypto(signal: AbortSignal): Promise<Crypto> {
      signal.throwIfAborted();
      const limit = { clock, timeoutMs: CONNECT_LIMIT_MS, signal, error: notConnected };
      if (current === undefined && loss === undefined) await withTimeout(limit, () => next.promise);
      if (loss)
        throw new SvcError("CHANNEL_DOWN", loss.message, { ...(loss.hint !== undefined && { hint: loss.hint }) });
      if (current === undefined) throw notConnected();
      return current;
    },
  };
}

const notConnected = (): SvcError =>
  new SvcError("CHANNEL_DOWN", "The channel is not connected; encrypted messages wait until it is.");

/** Name of its key among the feature's secrets, and of the device that it is of in its state. */
const STORE_KEY = "crypto-store-key";
const STORE_DEVICE = "crypto-store-device";

/** One file below `$SVC_HOME`. Where it is missing although this device has had one, that is an error, and no new identity. */
function keyStoreOf({ homeFolder, secrets, state, log }: FeatureContext<Config>): CryptoDeps["openStore"] {
  return async ({ userId, deviceId }) => {
    const { openCryptoStore } = await import("./crypto-store/crypto-store.ts");
    const stored = await secrets.get(STORE_KEY);
    const key = stored === undefined ? randomBytes(32) : Buffer.from(stored, "base64");
    if (stored === undefined) await secrets.set(STORE_KEY, key.toString("base64"));
    const device = `${userId} ${deviceId}`;
    const create = (await state.get(STORE_DEVICE)) !== device;
    const path = join(homeFolder, "state", "features", "channel-federated.db");
    if (!create && !existsSync(path)) throw new DeviceLost("The encryption keys of this device are gone.");
    let refusal: SvcError | undefined;
    const store = await openCryptoStore({
      path,
      key,
      create,
      onRefused(error) {
        refusal = error;
        log.error("encryption keys could not be stored or read", { channel: CHANNEL, code: error.code });
      },
    });
    if (create) await state.set(STORE_DEVICE, device);
    const { install, atomically, close } = store;
    return { install, atomically, close, refusal: () => refusal };
  };
}

// Signs beside messages: typing, read receipts, and a reaction on what is being answered.

/** How long the homeserver shows that the account writes. */
const TYPING_SHOWN_MS = 10_000;
const TYPING_LASTS_MS = 8_000;

function presenceOf({ api, userId, config }: OutboundDeps): Pick<Channel, "typing" | "readMarks"> {
  const emoji = config.ack_reaction.trim();
  /** Reactions of ours, by the message that they are on. */
  const reactions = new Map<string, string>();
  return {
    typing: {
      lastsMs: TYPING_LASTS_MS,
      async start({ id: roomId }, _messageId, signal) {
        signal.throwIfAborted();
        const path = roomPath(roomId, `typing/${pathPart(await userId(signal))}`);
        await api.call({ method: "PUT", path, json: { typing: true, timeout: TYPING_SHOWN_MS } }, signal);
      },
    },
    readMarks: {
      async mark({ id: roomId, thread }, messageId, signal) {
        signal.throwIfAborted();
        const eventId = eventIdOf(messageId);
        if (eventId === undefined) return;
        const path = roomPath(roomId, `receipt/m.read/${pathPart(eventId)}`);
        await api.call({ method: "POST", path, json: thread === undefined ? {} : { thread_id: thread } }, signal);
        if (emoji === "") return;
        const content = { "m.relates_to": { rel_type: "m.annotation", event_id: eventId, key: emoji } };
        const react = roomPath(roomId, `send/m.reaction/${pathPart(txnIdOf(eventId, "react", emoji))}`);
        const reaction = eventIdOf((await api.call({ method: "PUT", path: react, json: content }, signal))["event_id"]);
        if (reaction !== undefined) remember(reactions, eventId, reaction);
      },
      async clear({ id: roomId }, messageId, signal) {
        signal.throwIfAborted();
        const reaction = reactions.get(messageId);
        if (reaction === undefined) return;
        reactions.delete(messageId);
        const path = roomPath(roomId, `redact/${pathPart(reaction)}/${pathPart(txnIdOf(reaction, "redact"))}`);
        await api.call({ method: "PUT", path, json: {} }, signal);
      },
    },
  };
}

const MOST_REACTIONS = 1_000;

function remember(reactions: Map<string, string>, eventId: string, reaction: string): void {
  reactions.set(eventId, reaction);
  for (const oldest of reactions.keys()) if (reactions.size > MOST_REACTIONS) reactions.delete(oldest);
}
