/** The channel in Web mode: a linked device of an account, over one long connection. */
import {
  type Channel,
  type Contributions,
  type FeatureContext,
  type FeatureSurroundings,
  type LinkState,
  type Linking,
  type Route,
  SvcError,
} from "@svc/contract";
import { MEDIA_KINDS, sentPartsIn } from "@svc/kit";
import { CHANNEL, type Connection, LINK_HINT, type WebSection, ping } from "./connection.ts";
import { MAX_MEDIA_BYTES, inboundMedia } from "./media.ts";
import { TEXT_CHARS, jidOf, messageSender } from "./outbound.ts";
import { type Session, createSession } from "./session.ts";
import { randomUUID } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { encode } from "uqr";
import * as v from "valibot";

/** The app forgets it after about 25 s. */
const TYPING_LASTS_MS = 20_000;

export const survey = ({ homeFolder }: FeatureSurroundings): Promise<string> => linkMark(homeFolder);

export function create(context: FeatureContext<WebSection>): Contributions {
  const { config: section } = context;
  const session = createSession(context);
  const linking = createLinking(session, context);
  const connected = session.connected;
  const channel: Channel = {
    text: { maxChars: TEXT_CHARS },
    send: messageSender({ context, section, connected, sentParts: sentPartsIn(context) }),
    typing: {
      lastsMs: TYPING_LASTS_MS,
      async start({ id }, _messageId, signal) {
        const { connection } = await connected(signal);
        await connection.socket.sendPresenceUpdate("composing", jidOf(id));
      },
    },
    readMarks: {
      async mark({ id: conversationId }, messageId, signal) {
        const { connection } = await connected(signal);
        const jid = jidOf(conversationId);
        const [, ...rest] = messageId.split(" ");
        const id = rest.at(-1) ?? messageId;
        const sender = rest.length > 1 ? jidOf(rest[0]!) : undefined;
        await connection.socket.readMessages([
          { remoteJid: jid, id, fromMe: false, ...(sender !== undefined && { participant: sender }) },
        ]);
      },
    },
    media: { maxBytes: MAX_MEDIA_BYTES, sends: MEDIA_KINDS, fetch: inboundMedia(section, context) },
    linking,
    async check(signal) {
      // If the channel does not run, as before a reload, report the stored state: a second connection would disturb an existing one.
      if (!session.isRunning) {
        const account = await session.account();
        if (account !== undefined) return `${account}, linked and not connected`;
        throw new SvcError("CHANNEL_DOWN", "No account is linked with this channel.", { hint: LINK_HINT });
      }
      const { connection } = await connected(signal);
      await ping(connection, signal);
      const { id = "", name } = connection.socket.authState.creds.me ?? {};
      const number = `+${id.split(/[:@]/, 1)[0]}`;
      return [name, number]
        .filter((part) => part !== undefined && part !== "~")
        .join(", ")
        .replaceAll(/\p{C}/gu, " ");
    },
  };
  return {
    channel,
    routes: linkRoutes(linking),
    run: (signal) => session.run(signal),
    shutdown: () => linking.end(),
  };
}

// Linking the account: the phone scans a code, or is given one to type.

type LinkingDeps = Pick<FeatureContext<WebSection>, "config" | "log" | "refresh" | "homeFolder">;

/** Says which linking the feature was made after: with another text in it, it is made anew, and connects. */
const markIn = (homeFolder: string): string => join(homeFolder, "state", "features", "provider-a-web.linked");

const linkMark = (homeFolder: string): Promise<string> => readFile(markIn(homeFolder), "utf8").catch(() => "");

async function markLinked(homeFolder: string): Promise<void> {
  const path = markIn(homeFolder);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(path, randomUUID(), { mode: 0o600 });
}

/** `end`: cancels a linking in progress. */
function createLinking(session: Session, deps: LinkingDeps): Linking & { end(): Promise<void> } {
  const { config: section, log, refresh, homeFolder } = deps;
  let state: LinkState | undefined;
  let attempt: { readonly stop: AbortController; readonly over: Promise<void> } | undefined;

  const link = async (signal: AbortSignal): Promise<void> => {
    let connection: Connection | undefined;
    let isAsked = false;
    const onCode = (text: string): void => {
      if (section.pair_phone === undefined) {
        state = {
          stage: "scan",
          qr: rowsOf(text),
          how: `${ON_THE_PHONE}. Scan this code; it changes after some seconds.`,
        };
        return;
      }
      // The platform sends a new QR code every 20 s; a code to type is requested once.
      if (isAsked || connection === undefined) return;
      isAsked = true;
      const digits = section.pair_phone.replaceAll(/[^0-9]/g, "");
      connection.socket.requestPairingCode(digits).then(
        (code) =>
          (state = {
            stage: "code",
            code: `${code.slice(0, 4)}-${code.slice(4)}`,
            how: `${ON_THE_PHONE}, Link with phone number. Type this code.`,
          }),
        () => void connection?.close(),
      );
    };
    await session.openUnlinked(onCode, (opened) => (connection = opened), signal);
  };

  return {
    async begin(signal) {
      signal.throwIfAborted();
      const account = await session.account();
      if (account !== undefined) return { stage: "done", account };
      if (attempt) return state ?? { stage: "waiting" };
      state = { stage: "waiting" };
      const stop = new AbortController();
      const over = link(stop.signal)
        .then(async () => {
          log.info("an account was linked", { channel: CHANNEL });
          // Without it the loop, which had no account, waits for its next try.
          await markLinked(homeFolder).catch(() => undefined);
          refresh();
          state = { stage: "done", account: (await session.account()) ?? "" };
        })
        .catch((error: unknown) => {
          state = { stage: "ended", reason: reasonOf(error) };
          if (!stop.signal.aborted)
            log.warn("the account was not linked", { channel: CHANNEL, reason: reasonOf(error) });
        })
        .finally(() => (attempt = undefined));
      attempt = { stop, over };
      return state;
    },
    async state(signal) {
      signal.throwIfAborted();
      if (state !== undefined && state.stage !== "done") return state;
      const account = await session.account();
      return account === undefined
        ? (state ?? { stage: "ended", reason: "No account is linked." })
        : { stage: "done", account };
    },
    async end() {
      attempt?.stop.abort(new SvcError("DRAINING"));
      await attempt?.over;
    },
  };
}

const ON_THE_PHONE = "On the phone open WhatsApp, Settings, Linked devices, Link a device";

function reasonOf(error: unknown): string {
  if (!(error instanceof SvcError)) return "The account could not be linked.";
  if (error.code === "REMOTE_TIMEOUT") return "No phone has scanned the code in time.";
  if (error.code === "DRAINING") return "It was given up.";
  return error.message;
}

/** `1` for a dark module. */
const rowsOf = (text: string): string[] =>
  encode(text, { border: 0 }).data.map((row) => row.map((isDark) => (isDark ? "1" : "0")).join(""));

const LINK_PATH = "/api/provider-a-web/link";

const STATE = v.variant("stage", [
  v.object({ stage: v.literal("waiting") }),
  v.object({ stage: v.literal("scan"), qr: v.array(v.string()), how: v.string() }),
  v.object({ stage: v.literal("code"), code: v.string(), how: v.string() }),
  v.object({ stage: v.literal("done"), account: v.string() }),
  v.object({ stage: v.literal("ended"), reason: v.string() }),
]);
const STEP = v.strictObject({ step: v.picklist(["begin", "state"]) });

const linkRoutes = (linking: Linking): Route[] => [
  {
    method: "GET",
    path: LINK_PATH,
    access: "operate",
    doc: {
      summary: "Returns whether a WhatsApp account is linked with this service.",
      answers: { 200: { description: "How the linking stands.", body: STATE } },
    },
    handle: async ({ signal }) => ({ status: 200, body: { ...(await linking.state(signal)) } }),
  },
  {
    method: "POST",
    path: LINK_PATH,
    access: "operate",
    doc: {
      summary: "Takes one step of linking a WhatsApp account with this service.",
      body: STEP,
      answers: {
        200: { description: "How the linking stands. Ask for `state` until it is `done` or `ended`.", body: STATE },
      },
      errors: ["REMOTE_UNREACHABLE"],
    },
    async handle({ body, signal }) {
      const { step } = body as v.InferOutput<typeof STEP>;
      return { status: 200, body: { ...(await linking[step](signal)) } };
    },
  },
];
