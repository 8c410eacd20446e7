/** The channel in Web mode: a linked device of an account, over one long connection. */
import {
  type Channel,
  type Contributions,
  type FeatureContext,
  type FeatureSurroundings,
  SvcError,
} from "@svc/contract";
import { MEDIA_KINDS, sentPartsIn } from "@svc/kit";
import { LINK_HINT, type WebSection, ping } from "./connection.ts";
import { inboundMedia, MAX_MEDIA_BYTES } from "./media.ts";
import { createLinking, linkMark, linkRoutes } from "./linking.ts";
import { jidOf, messageSender, TEXT_CHARS } from "./outbound.ts";
import { createSession } from "./session.ts";

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
