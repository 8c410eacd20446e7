/** A person in an encrypted room, with an app on matrix-js-sdk. */
import { BOT, type MatrixPlatform, PERSON } from "@svc/testkit/platforms/matrix/server";
import { createClient, EventType, type MatrixClient } from "matrix-js-sdk";
import type { Logger } from "matrix-js-sdk/lib/logger.js";
import { eventually } from "../fixture/sleep.ts";

const nothing = (): void => undefined;
const SILENT: Logger = {
  trace: nothing,
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  getChild: () => SILENT,
};

export interface Person extends AsyncDisposable {
  /** Whether messages are encrypted for a device of the bot. */
  knowsBot(): Promise<boolean>;
  say(text: string): Promise<void>;
  /** The bot's messages as they were last edited. */
  read(): readonly string[];
  /** Ids of the bot's messages that this device has no key of. */
  unreadable(): readonly string[];
}

export async function startPerson({ url, world }: MatrixPlatform, room: string): Promise<Person> {
  const { userId, deviceId, token } = world.addDevice(PERSON, "ADAPHONE");
  const client: MatrixClient = createClient({ baseUrl: url, userId, deviceId, accessToken: token, logger: SILENT });
  await client.initRustCrypto({ useIndexedDB: false });
  await client.startClient({ initialSyncLimit: 10 });
  if (!(await eventually(() => client.isInitialSyncComplete()))) throw new Error("matrix-js-sdk does not sync");
  const heard = () =>
    (client.getRoom(room)?.getLiveTimeline().getEvents() ?? []).filter((event) => event.getSender() === BOT);
  return {
    async knowsBot() {
      const devices = await client.getCrypto()!.getUserDeviceInfo([BOT], true);
      return (devices.get(BOT)?.size ?? 0) > 0;
    },
    say: async (text) => void (await client.sendTextMessage(room, text)),
    read() {
      const texts = new Map<string, string>();
      for (const event of heard()) {
        if (event.getType() !== (EventType.RoomMessage as string)) continue;
        const content = event.getOriginalContent() as Record<string, Record<string, string>>;
        const { rel_type: kind, event_id: target = "" } = content["m.relates_to"] ?? {};
        if (kind === "m.replace") texts.set(target, content["m.new_content"]?.["body"] ?? "");
        else texts.set(event.getId()!, String(content["body"]));
      }
      return [...texts.values()];
    },
    unreadable: () => heard().flatMap((event) => (event.isDecryptionFailure() ? event.getId()! : [])),
    async [Symbol.asyncDispose]() {
      client.stopClient();
    },
  };
}
