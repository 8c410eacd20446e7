/**
 * The gateway: hello, identify, resume, heartbeats, sequence numbers, and what a connection may be closed for.
 * https://docs.discord.com/developers/events/gateway
 */
import type { Json } from "@svc/contract";
import type { IncomingMessage } from "node:http";
import { type WebSocket, WebSocketServer } from "ws";
import type { PlatformOptions } from "../base.ts";
import { compressed, writer } from "./compression.ts";
import { ALL_INTENTS, CLOSE, frameOf, type Identify, MESSAGE_CONTENT, OP, type Resume } from "./frames.ts";
import { type GatewaySession, gatewaySession } from "./gateway-session.ts";
import { type DiscordWorld, guildJson, userJson } from "./world.ts";

export interface GatewayRules {
  readonly token: string;
  /** Milliseconds. */
  heartbeatMs: number;
  /** The Message Content Intent is on in the portal. */
  mayReadContent: boolean;
  /** Heartbeats are answered. */
  acknowledges: boolean;
  /** More servers than one connection may serve. */
  needsSharding: boolean;
  /** Says hello to those who connect. */
  greets: boolean;
}

export interface DiscordGateway {
  readonly rules: GatewayRules;
  /** Every identify and resume that was sent, in order. */
  readonly logins: readonly GatewayLogin[];
  /** Close codes that clients sent, in order; 1006: none. */
  readonly closes: readonly number[];
  /** Open now. */
  readonly connections: number;
  readonly beats: number;
  tell: DiscordWorld["tell"];
  /** Any payload, to all who are connected. */
  send(payload: Json): void;
  /** Text as it is. */
  sendRaw(text: string): void;
  /** Closes every connection; without a code they are cut off. */
  disconnect(code?: number): void;
  /** Nobody can resume. */
  forgetSessions(): void;
  readonly upgrade: NonNullable<PlatformOptions["upgrade"]>;
}

export interface GatewayLogin {
  readonly kind: "identify" | "resume";
  /** Of the URL that was connected to. */
  readonly path: string;
  readonly body: Identify | Resume;
}

const RESUME_PATH = "/resume";

export function discordGateway(world: DiscordWorld, rules: GatewayRules, origin: () => string): DiscordGateway {
  const server = new WebSocketServer({ noServer: true, maxPayload: 65_536 });
  const sessions = new Map<string, GatewaySession>();
  const logins: GatewayLogin[] = [];
  const closes: number[] = [];
  let beats = 0;
  let count = 0;

  function ready(session: GatewaySession, { shard = [0, 1] }: Identify): void {
    const guilds = [...world.guilds.values()];
    const data: Record<string, Json> = {
      v: 10,
      user: { ...userJson(world.bot), verified: true, mfa_enabled: false, email: null, flags: 0 },
      guilds: guilds.map(({ id }) => ({ id, unavailable: true })),
      session_id: session.id,
      resume_gateway_url: `${origin().replace("http", "ws")}${RESUME_PATH}`,
      shard,
      application: { id: world.applicationId, flags: rules.mayReadContent ? 1 << 19 : 0 },
      private_channels: [],
      relationships: [],
      session_type: "normal",
      user_settings: {},
    };
    session.tell({ type: "READY", data, intent: 0 });
    for (const guild of guilds) session.tell({ type: "GUILD_CREATE", data: guildJson(world, guild), intent: 1 });
  }

  /** A number: the code that the connection is closed with. */
  function identified(body: Identify): GatewaySession | number {
    if (body.token.replace(/^Bot /, "") !== rules.token) return CLOSE.authenticationFailed;
    if ((body.intents & ~ALL_INTENTS) !== 0) return CLOSE.invalidIntents;
    if ((body.intents & MESSAGE_CONTENT) !== 0 && !rules.mayReadContent) return CLOSE.disallowedIntents;
    if (body.shard !== undefined && body.shard[0] >= body.shard[1]) return CLOSE.invalidShard;
    if (rules.needsSharding && (body.shard?.[1] ?? 1) < 2) return CLOSE.shardingRequired;
    const session = gatewaySession(world, `session-${(count += 1)}`, body.intents);
    sessions.set(session.id, session);
    return session;
  }

  function connected(socket: WebSocket, { url = "/" }: IncomingMessage): void {
    const { pathname: path, searchParams: query } = new URL(url, "http://fake");
    let session: GatewaySession | undefined;
    let write = writer(socket, query.get("compress") === "zlib-stream");
    if (query.get("v") !== "10" || query.get("encoding") !== "json") return socket.close(CLOSE.invalidVersion);
    if (rules.greets) write({ op: OP.hello, d: { heartbeat_interval: rules.heartbeatMs } });
    sending.set(socket, (payload) => write(payload));

    /** Who is late is cut off; twice the interval leaves room for a machine that is busy. */
    let late = setTimeout(() => undefined, 0);
    const expectBeat = (): void => {
      clearTimeout(late);
      late = setTimeout(() => socket.close(CLOSE.unknownError), rules.heartbeatMs * 3 + 1_000).unref();
    };
    expectBeat();

    const attach = (to: GatewaySession): void => {
      session = to;
      to.send = (payload) => write(payload);
    };
    socket.on("message", (data: Buffer) => {
      const frame = frameOf(data);
      if (typeof frame === "number") return socket.close(frame);
      if (frame.op === "heartbeat") {
        beats += 1;
        expectBeat();
        if (frame.seq !== null && frame.seq > (session?.seq ?? 0)) return socket.close(CLOSE.invalidSeq);
        if (rules.acknowledges) write({ op: OP.acknowledged });
        return;
      }
      if (frame.op === "other") return session === undefined ? socket.close(CLOSE.notAuthenticated) : undefined;
      if (session !== undefined) return socket.close(CLOSE.alreadyAuthenticated);
      logins.push({ kind: frame.op, path, body: frame.body });
      if (frame.op === "identify") {
        const made = identified(frame.body);
        if (typeof made === "number") return socket.close(made);
        if (frame.body.compress === true) write = compressed(socket);
        attach(made);
        return ready(made, frame.body);
      }
      const { token, session_id: id, seq } = frame.body;
      const known = sessions.get(id);
      if (token.replace(/^Bot /, "") !== rules.token) return socket.close(CLOSE.authenticationFailed);
      if (known === undefined) return write({ op: OP.invalidSession, d: false });
      attach(known);
      if (!known.replay(seq)) return socket.close(CLOSE.invalidSeq);
      known.tell({ type: "RESUMED", data: {}, intent: 0 });
    });
    socket.on("close", (code) => {
      clearTimeout(late);
      sending.delete(socket);
      closes.push(code);
      if (session === undefined) return;
      session.send = undefined;
      // A client that closes its session can't resume it.
      if (code === 1000 || code === 1001) sessions.delete(session.id);
    });
    socket.on("error", () => undefined);
  }

  const sending = new Map<WebSocket, (payload: Json) => void>();
  server.on("connection", connected);
  return {
    rules,
    logins,
    closes,
    get connections() {
      return sending.size;
    },
    get beats() {
      return beats;
    },
    tell: (dispatch) => {
      for (const session of sessions.values()) session.tell(dispatch);
    },
    send: (payload) => {
      for (const send of sending.values()) send(payload);
    },
    sendRaw: (text) => {
      for (const socket of sending.keys()) socket.send(text);
    },
    disconnect(code) {
      for (const socket of sending.keys()) {
        if (code === undefined) socket.terminate();
        else socket.close(code);
      }
    },
    forgetSessions: () => sessions.clear(),
    upgrade: (incoming, socket, head) =>
      server.handleUpgrade(incoming, socket, head, (client) => server.emit("connection", client, incoming)),
  };
}
