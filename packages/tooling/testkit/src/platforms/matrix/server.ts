/**
 * A homeserver on loopback, as strict as the specification: what it would refuse is refused here too.
 * https://spec.matrix.org/v1.16/client-server-api/. `test/fake.test.ts` of the channel proves it with matrix-js-sdk.
 */
import type { ServerResponse } from "node:http";
import { randomBytes } from "node:crypto";
import { type FakePlatform, type PlatformReply, type PlatformRequest, startPlatform } from "../base.ts";
import { matrixHtmlText } from "./html.ts";
import { MatrixFault } from "./call.ts";
import { routes } from "./routes.ts";
import { type Dict, World } from "./world.ts";

export interface MatrixPlatform extends FakePlatform {
  readonly world: World;
  /** The account of the channel, its device's token, and a room with `person`. */
  readonly bot: string;
  readonly token: string;
  readonly deviceId: string;
  readonly room: string;
  readonly person: string;
  /** What people see of the bot's messages that are not encrypted, edits applied, redacted ones gone. */
  readonly sent: readonly { readonly text: string; readonly content: Dict }[];
  write(message: {
    readonly from: string;
    readonly text: string;
    readonly atMs?: number;
    readonly roomId?: string;
    readonly content?: Dict;
  }): string;
  /** Ends every connection that waits for something to happen. */
  disconnect(): void;
}

export const BOT = "@svc:hs.test";
export const PERSON = "@ada:hs.test";
export const STRANGER = "@eve:hs.test";

export interface MatrixOptions {
  readonly token?: string;
  readonly encrypted?: boolean;
}

export async function startMatrix({ token = TOKEN, encrypted = false }: MatrixOptions = {}): Promise<MatrixPlatform> {
  const world = new World("hs.test", () => Date.now());
  for (const user of [BOT, PERSON, STRANGER]) world.addAccount(user);
  const device = world.addDevice(BOT, "SVCDEVICE", token);
  const room = world.addRoom([PERSON, BOT, STRANGER], { encrypted });
  world.setMembership(room, STRANGER, "leave");
  const handle = routes(world);
  const held = new Set<ServerResponse>();

  /** A sync that waits is answered by the next change, or after its time. */
  const hold =
    (request: PlatformRequest, waitMs: number): PlatformReply =>
    (response) => {
      held.add(response);
      const done = (): void => {
        clearTimeout(timer);
        forget();
        held.delete(response);
      };
      const tryAgain = (final: boolean): void => {
        const answer = handle({ ...request, query: new URLSearchParams(request.query) });
        if (answer === "wait" && !final) return;
        done();
        const json = answer === "wait" ? handle({ ...request, query: withoutWait(request.query) }) : answer;
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(json));
      };
      const timer = setTimeout(() => tryAgain(true), waitMs).unref();
      // After what is going on now: a change is several events at times.
      const forget = world.onChange(() => setImmediate(() => held.has(response) && tryAgain(false)));
      response.on("close", done);
    };

  const platform = await startPlatform((request) => {
    try {
      const answer = handle(request);
      if (answer === "wait") return hold(request, Math.min(30_000, Number(request.query.get("timeout") ?? 0)));
      return typeof answer === "object" && "reply" in answer
        ? (answer.reply as PlatformReply)
        : { json: answer as never };
    } catch (error) {
      if (!(error instanceof MatrixFault)) throw error;
      return { status: error.status, json: { errcode: error.errcode, error: error.message, ...error.more } as never };
    }
  });

  return Object.defineProperties(platform as MatrixPlatform, {
    world: { value: world },
    bot: { value: BOT },
    token: { value: token },
    deviceId: { value: device.deviceId },
    room: { value: room },
    person: { value: PERSON },
    sent: { get: () => sentBy(world, BOT) },
    write: {
      value: ({ from, text, atMs, roomId = room, content }: Parameters<MatrixPlatform["write"]>[0]) => {
        if (world.membership(roomId, from) !== "join") world.setMembership(roomId, from, "join");
        const message = world.append({
          roomId,
          sender: from,
          type: "m.room.message",
          content: content ?? { msgtype: "m.text", body: text },
          ...(atMs !== undefined && { atMs }),
        });
        return message.event_id;
      },
    },
    disconnect: {
      value: () => {
        for (const response of held) response.socket?.resetAndDestroy();
        held.clear();
      },
    },
  });
}

const TOKEN = `syt_c3Zj_${randomBytes(12).toString("hex")}`;

const withoutWait = (query: URLSearchParams): URLSearchParams => {
  const copy = new URLSearchParams(query);
  copy.set("timeout", "0");
  return copy;
};

function sentBy(world: World, sender: string): { text: string; content: Dict }[] {
  const messages = [...world.rooms.values()]
    .flatMap(({ events }) => events)
    .filter((event) => event.sender === sender && (event.type === "m.room.message" || event.type === "m.sticker"))
    .filter(({ content }) => content["body"] !== undefined)
    .toSorted((a, b) => a.at - b.at);
  const edits = new Map<unknown, Dict>();
  for (const { content } of messages) {
    const relation = content["m.relates_to"] as Dict | undefined;
    if (relation?.["rel_type"] === "m.replace") edits.set(relation["event_id"], content["m.new_content"] as Dict);
  }
  return messages
    .filter(({ content }) => (content["m.relates_to"] as Dict | undefined)?.["rel_type"] !== "m.replace")
    .map((event) => {
      const content = edits.get(event.event_id) ?? event.content;
      const html = content["formatted_body"];
      return { text: typeof html === "string" ? matrixHtmlText(html) : String(content["body"]), content };
    });
}
