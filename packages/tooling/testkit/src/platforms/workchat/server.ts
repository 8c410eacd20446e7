/**
 * Lark as far as a bot meets it: the open API and the long connection, on one port. It takes what the platform's documents say, and
 * nothing else. https://open.larksuite.com/document
 */
import { hash } from "node:crypto";
import type { Json } from "@svc/contract";
import { type FakePlatform, type PlatformReply, type PlatformRequest, startPlatform } from "../base.ts";
import { seenCard } from "./card.ts";
import {
  WORKCHAT_APP,
  type WorkchatMessage,
  workchatDmOf,
  workchatId,
  workchatMessageEvent,
  workchatMessageId,
  workchatPress,
} from "./events.ts";
import { bodyOf, type Fields, formOf, INVALID, reactionsOn, Refusal, type WorkchatSent } from "./requests.ts";
import { type WorkchatSocket, workchatSocket } from "./socket.ts";

export interface WorkchatOptions {
  readonly appSecret: string;
  readonly appId?: string;
  /** Open IDs. */
  readonly people?: readonly string[];
}

export interface Workchat extends FakePlatform {
  readonly socket: WorkchatSocket;
  readonly sent: readonly WorkchatSent[];
  /** `<message id> <emoji type>`, in order, those that were taken back included. */
  readonly reactions: readonly string[];
  /** The same of those that were taken back. */
  readonly reactionsTakenBack: readonly string[];
  /** Codes that a path is refused with: the HTTP status, and the code. */
  readonly refusals: Map<string, readonly [status: number, code: number]>;
  /** Paths that were asked for, in order, without what is before the API's name. */
  readonly called: readonly string[];
  /** Access tokens that were given out. */
  readonly tokens: readonly string[];
  /** Seconds that a token is good for. Default: 7 200. */
  tokenSeconds: number;
  /** From now on no token that was given out is good. */
  revokeTokens(): void;
  addGroup(chat: string): void;
  /** A file of a person's message. The reference of `Inbound.media`. */
  host(bytes: Uint8Array, options?: { readonly type?: "image" | "file"; readonly link?: string }): string;
  /** A person writes: the long connection delivers the message. Returns its id. */
  write(message: WorkchatMessage): string;
  /** A person presses a button of the question that was posted last. */
  press(press: { readonly from: string; readonly approved: boolean; readonly atMs: number; readonly id: string }): void;
}

const TEXT_BYTES = 150 * 1024;

export async function startWorkchat({
  appSecret,
  appId = WORKCHAT_APP.appId,
  people = [],
}: WorkchatOptions): Promise<Workchat> {
  const chats = new Set(people.map(workchatDmOf));
  const messages: WorkchatSent[] = [];
  const heard = new Map<string, string>();
  const byKey = new Map<string, string>();
  const files = new Map<string, { readonly bytes: Uint8Array; readonly link: string | undefined }>();
  const uploaded = new Map<string, "image" | "opus" | "mp4" | "file">();
  const { reactions, reactionsTakenBack, react, takeBack } = reactionsOn(heard);
  const called: string[] = [];
  const tokens: string[] = [];
  const good = new Set<string>();
  const refusals = new Map<string, readonly [number, number]>();

  const replies: readonly (readonly [
    method: string,
    path: RegExp,
    handle: (request: PlatformRequest, ...parts: string[]) => Json | PlatformReply,
  ])[] = [
    [
      "GET",
      /^bot\/v3\/info$/,
      () => ({
        bot: {
          activate_status: 2,
          app_name: WORKCHAT_APP.name,
          avatar_url: "",
          ip_white_list: [],
          open_id: WORKCHAT_APP.bot,
        },
      }),
    ],
    ["POST", /^im\/v1\/messages$/, create],
    ["POST", /^im\/v1\/messages\/([^/]+)\/reply$/, reply],
    ["PATCH", /^im\/v1\/messages\/([^/]+)$/, change],
    ["POST", /^im\/v1\/messages\/([^/]+)\/reactions$/, react],
    ["DELETE", /^im\/v1\/messages\/([^/]+)\/reactions\/([^/]+)$/, takeBack],
    ["GET", /^im\/v1\/messages\/([^/]+)\/resources\/([^/]+)$/, resource],
    ["POST", /^im\/v1\/images$/, uploadImage],
    ["POST", /^im\/v1\/files$/, uploadFile],
  ];

  function answer(request: PlatformRequest): Json | PlatformReply {
    if (request.path === "/callback/ws/endpoint" && request.method === "POST") return endpoint(request);
    const path = request.path.replace(/^\/open-apis\//, "");
    called.push(path);
    if (path === "auth/v3/tenant_access_token/internal" && request.method === "POST") return token(request);
    const bearer = /^Bearer (\S+)$/.exec(request.headers["authorization"] ?? "")?.[1];
    if (bearer === undefined) throw new Refusal(99991661);
    if (!good.has(bearer)) throw new Refusal(99991663);
    const refusal = refusals.get(path);
    if (refusal !== undefined) throw new Refusal(refusal[1], refusal[0]);
    for (const [method, pattern, handle] of replies) {
      const found = pattern.exec(path);
      if (found && method === request.method) return handle(request, ...found.slice(1));
    }
    throw new Refusal(99991404, 404);
  }

  function credentials({ json }: PlatformRequest, id: string, secret: string): void {
    const given = bodyOf(json, [id, secret]);
    if (given[id] !== appId) throw new Refusal(10003);
    if (given[secret] !== appSecret) throw new Refusal(10014);
  }

  function token(request: PlatformRequest): Json {
    credentials(request, "app_id", "app_secret");
    const value = `t-${hash("sha256", `${appSecret} ${tokens.length}`, "hex").slice(0, 40)}`;
    tokens.push(value);
    good.add(value);
    return { msg: "ok", tenant_access_token: value, expire: platform.tokenSeconds };
  }

  function endpoint(request: PlatformRequest): Json {
    try {
      credentials(request, "AppID", "AppSecret");
    } catch {
      throw new Refusal(514, 200, { data: {} });
    }
    const config = { ReconnectCount: -1, ReconnectInterval: 120, ReconnectNonce: 30, PingInterval: socket.pingSeconds };
    return { data: { URL: socket.ticket(), ClientConfig: config } };
  }

  function create({ json, query }: PlatformRequest): Json {
    const body = bodyOf(json, ["receive_id", "msg_type", "content", "uuid"]);
    const to = String(body["receive_id"]);
    const chat = { chat_id: to, open_id: people.includes(to) ? workchatDmOf(to) : "" }[
      query.get("receive_id_type") ?? ""
    ];
    if (chat === undefined) throw new Refusal(INVALID);
    if (!chats.has(chat)) throw new Refusal(230002);
    return posted(body, chat, { inThread: false });
  }

  function reply({ json }: PlatformRequest, id: string): Json {
    const body = bodyOf(json, ["msg_type", "content", "uuid", "reply_in_thread"]);
    const chat = messages.find((one) => one.id === id)?.chat ?? heard.get(id);
    if (chat === undefined) throw new Refusal(230011);
    return posted(body, chat, { replyTo: id, inThread: body["reply_in_thread"] === true });
  }

  function posted(body: Fields, chat: string, where: Pick<WorkchatSent, "replyTo" | "inThread">): Json {
    const { msg_type: type, content, uuid } = body;
    if (typeof uuid !== "string" || uuid === "" || uuid.length > 50) throw new Refusal(INVALID);
    const seen = seenOf(String(type), content);
    const known = byKey.get(uuid);
    const id = known ?? workchatId("om", `sent ${messages.length}`);
    if (known === undefined) {
      byKey.set(uuid, id);
      messages.push({ id, chat, type: String(type), ...seen, ...where });
    }
    return {
      data: { message_id: id, chat_id: chat, msg_type: String(type), create_time: "1609296809", deleted: false },
    };
  }

  function seenOf(type: string, content: Json | undefined): Pick<WorkchatSent, "text" | "buttons" | "values"> {
    if (typeof content !== "string") throw new Refusal(INVALID);
    if (Buffer.byteLength(content) > TEXT_BYTES) throw new Refusal(230025);
    if (type === "interactive") return cardSeen(content);
    const key = Object.entries(JSON.parse(content) as Fields)[0];
    const kinds: Readonly<Record<string, readonly [name: string, kind: string]>> = {
      image: ["image_key", "image"],
      file: ["file_key", "file"],
      audio: ["file_key", "opus"],
      media: ["file_key", "mp4"],
    };
    const wanted = kinds[type];
    if (wanted === undefined || key?.[0] !== wanted[0]) throw new Refusal(INVALID);
    if (uploaded.get(String(key[1])) !== wanted[1]) throw new Refusal(230055);
    return { text: `[${type}]`, buttons: [], values: [] };
  }

  function cardSeen(content: string): Pick<WorkchatSent, "text" | "buttons" | "values"> {
    try {
      const { text, buttons } = seenCard(content);
      return { text, buttons: buttons.map(({ label }) => label), values: buttons.map(({ value }) => value) };
    } catch {
      throw new Refusal(230099);
    }
  }

  function change({ json }: PlatformRequest, id: string): Json {
    const { content } = bodyOf(json, ["content"]);
    const at = messages.findIndex((one) => one.id === id);
    if (at < 0) throw new Refusal(230011);
    if (messages[at]!.type !== "interactive") throw new Refusal(230054);
    if (typeof content !== "string") throw new Refusal(INVALID);
    messages[at] = { ...messages[at]!, ...cardSeen(content) };
    return { data: {} };
  }

  function resource({ query }: PlatformRequest, message: string, key: string): PlatformReply {
    const file = files.get(`${message}/${query.get("type") ?? ""}/${key}`);
    if (file === undefined) throw new Refusal(234003);
    if (file.link !== undefined) return { status: 302, headers: { location: file.link } };
    return { headers: { "content-type": "image/png" }, bytes: file.bytes };
  }

  function uploadImage(request: PlatformRequest): Json {
    const { fields, size } = formOf(request);
    if (fields["image_type"] !== "message" || size === 0 || size > 10_485_760) throw new Refusal(234006);
    return { data: { image_key: keyOf("img_v3", "image") } };
  }

  function uploadFile(request: PlatformRequest): Json {
    const { fields, size } = formOf(request);
    const { file_type: type = "", file_name: name = "" } = fields;
    if (!/^(?:opus|mp4|pdf|doc|xls|ppt|stream)$/.test(type) || name === "") throw new Refusal(234001);
    if (size === 0 || size > 31_457_280) throw new Refusal(234006);
    return { data: { file_key: keyOf("file_v3", type === "opus" || type === "mp4" ? type : "file") } };
  }

  const keyOf = (prefix: string, kind: "image" | "opus" | "mp4" | "file"): string => {
    const key = `${prefix}_${uploaded.size}_${hash("sha256", String(uploaded.size), "hex").slice(0, 24)}`;
    uploaded.set(key, kind);
    return key;
  };

  function respond(request: PlatformRequest): PlatformReply {
    try {
      const reply = answer(request);
      if (
        typeof reply === "function" ||
        (typeof reply === "object" && reply !== null && ("bytes" in reply || "status" in reply))
      )
        return reply as PlatformReply;
      return { json: { code: 0, msg: "success", ...(reply as Fields) } };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return {
        status: error.status,
        json: { code: error.code, msg: `refused: ${error.code}`, error: { log_id: "2021" }, ...error.more },
      };
    }
  }

  const socket = workchatSocket(() => base.url);
  const base = await startPlatform((request) => respond(request), { upgrade: socket.upgrade });
  const platform = Object.defineProperties(base, {
    ...Object.getOwnPropertyDescriptors({
      socket,
      sent: messages,
      reactions,
      reactionsTakenBack,
      refusals,
      called,
      tokens,
      tokenSeconds: 7_200,
      revokeTokens: () => good.clear(),
      addGroup: (chat: string) => void chats.add(chat),
      host(bytes: Uint8Array, { type = "image", link }: { type?: "image" | "file"; link?: string } = {}): string {
        const ref = `${workchatId("om", `file ${files.size}`)}/${type}/img_v3_host_${files.size}`;
        files.set(ref, { bytes, link });
        return ref;
      },
      write(message: WorkchatMessage): string {
        const id = workchatMessageId(message.id);
        heard.set(id, message.chat ?? workchatDmOf(message.from));
        socket.send(workchatMessageEvent({ appId, ...message }));
        return id;
      },
      press({ approved, ...press }: Parameters<Workchat["press"]>[0]) {
        const asked = messages.findLast(({ values }) => values.length > 1)!;
        const value = asked.values[approved ? 0 : 1]!;
        socket.send(workchatPress({ appId, ...press, chat: asked.chat, message: asked.id, value }));
      },
    }),
  }) as Workchat;
  return platform;
}
