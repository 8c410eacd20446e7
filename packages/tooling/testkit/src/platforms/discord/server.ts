/**
 * Discord as far as a bot meets it: REST, the gateway and the files of messages, on one port. It takes what the platform's
 * documents say and nothing else. https://docs.discord.com/developers
 */
import type { Json } from "@svc/contract";
import { type FakePlatform, type PlatformReply, type PlatformRequest, startPlatform } from "../base.ts";
import { channelFor } from "./access.ts";
import { channelRoutes } from "./channels.ts";
import { DiscordRefusal, notFound, refusal, unauthorized } from "./errors.ts";
import { type DiscordFiles, discordFiles } from "./files.ts";
import { type DiscordGateway, discordGateway } from "./gateway.ts";
import { discordInteractions, type DiscordInteractions } from "./interactions.ts";
import { discordLimits, type DiscordLimits } from "./limits.ts";
import { messageRoutes } from "./messages.ts";
import { type DiscordPeople, discordPeople } from "./people.ts";
import { type DiscordSent, sentBy } from "./sent.ts";
import { channelJson, type DiscordWorld, discordWorld, userJson } from "./world.ts";

export interface DiscordOptions {
  readonly token: string;
  /** What time it is there. Default: 2026-01-01 12:00 UTC. */
  readonly nowMs?: number;
  /** Default: 41 250 ms, as there. */
  readonly heartbeatMs?: number;
}

export interface Discord extends FakePlatform, DiscordPeople {
  readonly apiUrl: string;
  readonly world: DiscordWorld;
  readonly gateway: DiscordGateway;
  readonly files: DiscordFiles;
  readonly limits: DiscordLimits;
  readonly interactions: DiscordInteractions;
  /** Messages of the bot that people see, oldest first. */
  readonly sent: readonly DiscordSent[];
  /** Channels in which the bot was seen typing, in order. */
  readonly typing: readonly string[];
  /** Of the menu. */
  readonly commands: () => Promise<readonly Json[]>;
  /** How many sessions may begin today. */
  sessionsLeft: number;
}

const API = "/api/v10/";

export async function startDiscord(options: DiscordOptions): Promise<Discord> {
  const { token, nowMs = Date.UTC(2026, 0, 1, 12), heartbeatMs = 41_250 } = options;
  const world = discordWorld(nowMs);
  const origin = (): string => base.url;
  const files = discordFiles(origin, world.newId);
  const messages = messageRoutes(world, files);
  const channels = channelRoutes(world);
  const interactions = discordInteractions(world, messages);
  const limits = discordLimits();
  const typing: string[] = [];
  const rules = {
    token,
    heartbeatMs,
    mayReadContent: true,
    acknowledges: true,
    needsSharding: false,
    greets: true,
  };
  const gateway = discordGateway(world, rules, origin);
  world.tell = gateway.tell;

  function gatewayBot(): PlatformReply {
    const session_start_limit = {
      total: 1000,
      remaining: state.sessionsLeft,
      reset_after: 3_600_000,
      max_concurrency: 1,
    };
    return { json: { url: base.url.replace("http", "ws"), shards: rules.needsSharding ? 2 : 1, session_start_limit } };
  }

  function application(): PlatformReply {
    const flags = rules.mayReadContent ? 1 << 19 : 0;
    const bot = userJson(world.bot);
    const approximate_guild_count = world.guilds.size;
    return {
      json: {
        id: world.applicationId,
        name: "Helper",
        flags,
        approximate_guild_count,
        bot,
        description: "",
        icon: null,
      },
    };
  }

  type Route = readonly [methods: string, path: RegExp, handle: (ids: string[], request: PlatformRequest) => unknown];
  const ID = String.raw`(\d{1,20})`;
  const at = (path: string): RegExp => new RegExp(`^${path.replaceAll(":id", ID).replaceAll(":any", "([^/]+)")}$`);
  const routes: readonly Route[] = [
    ["GET", at("gateway/bot"), gatewayBot],
    ["GET", at("users/@me"), () => ({ json: userJson(world.bot) })],
    ["GET", at("users/@me/guilds"), () => ({ json: [...world.guilds.values()].map(({ id, name }) => ({ id, name })) })],
    ["POST", at("users/@me/channels"), (_, request) => channels.openDirect(request)],
    ["GET", at("applications/@me"), application],
    ["GET PUT", at("applications/:id/commands"), ([id], request) => channels.commands(id!, request)],
    ["GET", at("channels/:id"), ([id]) => ({ json: channelJson(world, channelFor(world, id!)) })],
    ["GET", at("channels/:id/messages"), ([id], request) => messages.list(id!, request)],
    ["POST", at("channels/:id/messages"), ([id], request) => messages.create(id!, request)],
    ["GET", at("channels/:id/messages/:id"), ([id, message]) => messages.get(id!, message!)],
    ["PATCH", at("channels/:id/messages/:id"), ([id, message], request) => messages.edit(id!, message!, request)],
    [
      "POST",
      at("channels/:id/messages/:id/threads"),
      ([id, message], request) => channels.startThread(id!, message!, request),
    ],
    [
      "PUT DELETE",
      at("channels/:id/messages/:id/reactions/:any/@me"),
      ([id, message, emoji], { method }) => channels.react(id!, message!, decodeURIComponent(emoji!), method),
    ],
    [
      "POST",
      at("channels/:id/typing"),
      ([id]) => {
        channelFor(world, id!, "send");
        typing.push(id!);
        return { status: 204 };
      },
    ],
  ];
  /** The token in the path is enough. */
  const open: readonly Route[] = [
    ["POST", at("interactions/:id/:any/callback"), ([id, own], request) => interactions.callback(id!, own!, request)],
    [
      "PATCH",
      at("webhooks/:id/:any/messages/@original"),
      ([id, own], request) => interactions.editOriginal(id!, own!, request),
    ],
    ["POST", at("webhooks/:id/:any"), ([id, own], request) => interactions.followUp(id!, own!, request)],
  ];

  async function answer(request: PlatformRequest): Promise<PlatformReply> {
    const { method, headers, path } = request;
    if (!/^DiscordBot \([^\s,]+, [^\s)]+\)/.test(headers["user-agent"] ?? "")) throw refusal("blocked");
    if (!path.startsWith(API)) throw notFound();
    const rest = path.slice(API.length).replace("%40", "@");
    const routed = (all: readonly Route[]) => all.filter(([, pattern]) => pattern.test(rest));
    const found = routed(open).length > 0 ? routed(open) : routed(routes);
    if (routed(open).length === 0 && headers["authorization"] !== `Bot ${token}`) throw unauthorized();
    if (found.length === 0) throw notFound();
    const [, pattern, handle] = found.find(([methods]) => methods.split(" ").includes(method)) ?? [];
    if (pattern === undefined || handle === undefined) throw new DiscordRefusal(405, 0, "405: Method Not Allowed");
    const limited = limits.meet(method, rest);
    if (limited !== undefined) return limited;
    const reply = (await handle([...pattern.exec(rest)!].slice(1), request)) as PlatformReply;
    return limits.marked(method, rest, reply);
  }

  const base = await startPlatform(
    async (request) => {
      const file = request.method === "GET" ? files.serve(request.path) : undefined;
      if (file !== undefined) return file;
      try {
        return await answer(request);
      } catch (error) {
        if (error instanceof DiscordRefusal) return error.reply;
        throw error;
      }
    },
    { upgrade: gateway.upgrade },
  );
  const state = Object.assign(base, {
    apiUrl: `${base.url}/api`,
    world,
    gateway,
    files,
    limits,
    interactions,
    typing,
    sessionsLeft: 1000,
    commands: async () => {
      const request = { method: "GET" } as PlatformRequest;
      const reply = await channels.commands(world.applicationId, request);
      return (reply as { json: Json[] }).json;
    },
    ...discordPeople(world, messages, channels, interactions),
  });
  return Object.defineProperty(state, "sent", { get: () => sentBy(world), enumerable: true }) as unknown as Discord;
}
