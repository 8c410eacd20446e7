/**
 * Telegram's Bot API as its documents say: a token in the path, methods with typed parameters, updates by long polling or
 * by webhook, files in two steps, and errors as JSON. https://core.telegram.org/bots/api
 */
import type { Clock, Json } from "@svc/contract";
import { type FakePlatform, type PlatformReply, type PlatformRequest, startPlatform } from "../base.ts";
import { failed, TelegramError, type TelegramFailure } from "./answer.ts";
import { type Chats, createChats, type TelegramChat, type TelegramSent } from "./chats.ts";
import { createFiles, type Files } from "./files.ts";
import { rateLimits } from "./limits.ts";
import { sentJson } from "./message-json.ts";
import { type Method, methodsOf, type World } from "./methods.ts";
import { parametersOf } from "./parameters.ts";
import { createPolls, type Update } from "./polls.ts";
import { createWebhook, type Webhook, type WebhookOptions } from "./webhook.ts";

export interface TelegramOptions {
  /** Default: `TELEGRAM_TOKEN`. */
  readonly token?: string;
  /** Default: `svc_bot`. */
  readonly username?: string;
  /** Privacy mode is off. Default: it is on. */
  readonly readsGroups?: true;
  /** Ends long requests, and keeps the limits of how much may be sent. Default: neither. */
  readonly clock?: Clock;
  readonly webhook?: Omit<WebhookOptions, "carryOut">;
}

export const TELEGRAM_TOKEN = "123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw";

export interface TelegramPlatform extends FakePlatform {
  readonly apiUrl: string;
  readonly bot: World["bot"];
  readonly sent: readonly TelegramSent[];
  readonly chats: Chats;
  readonly files: Files;
  readonly webhook: Webhook;
  readonly done: World["done"];
  /** Updates that are not confirmed yet. */
  readonly waiting: readonly Update[];
  /** Whether a client is waiting for an update right now. */
  readonly isPolled: boolean;
  /** Something happens that the bot is told of, as far as it wants to be. */
  push(update: Readonly<Record<string, Json>>): Update | undefined;
  /** The message as the platform tells it. */
  told(sent: TelegramSent): Readonly<Record<string, Json>>;
  /** The next calls of a method, or any (`*`), fail so, one each. */
  failNext(method: string, failures: readonly TelegramFailure[]): void;
  /** Answers who waits for an update with none. */
  expirePolls(): void;
  /** Ends the connection of who waits, as a restart of the platform does. */
  disconnect(): void;
  /** Another program asks for updates with the same token. */
  pollElsewhere(): void;
}

/** What is not told unless it is asked for by name. */
const UNASKED: ReadonlySet<string> = new Set(["chat_member", "message_reaction", "message_reaction_count"]);

export async function startTelegram(options: TelegramOptions = {}): Promise<TelegramPlatform> {
  const { token = TELEGRAM_TOKEN, username = "svc_bot", readsGroups = false, clock } = options;
  const polls = createPolls(860_000_001, clock && ((ms, run) => clock.after(ms, run)));
  const failures = new Map<string, TelegramFailure[]>();
  const webhook = createWebhook(polls, {
    ...options.webhook,
    carryOut: ({ method, ...parameters }) =>
      void call(String(method), () => ({ values: parameters, files: new Map() })),
  });
  const world: World = {
    bot: { id: Number(token.split(":", 1)[0]), username, name: "Helper" },
    readsGroups,
    chats: createChats(),
    files: createFiles(),
    polls,
    webhook,
    count: clock ? rateLimits(clock) : () => undefined,
    clock: clock ?? { now: () => Date.now() },
    done: { actions: [], reactions: [], answered: [], commands: [], allowedUpdates: undefined },
    presses: new Set(),
  };
  const methods = methodsOf(world);

  function call(name: string, parameters: (method: Method) => Parameters<Method["run"]>[0]): PlatformReply {
    const method = methods.get(name.toLowerCase());
    if (method === undefined) return failed({ code: 404, description: "Not Found: method not found" });
    const failure = failures.get(name)?.shift() ?? failures.get("*")?.shift();
    if (failure) return failed(failure);
    try {
      return method.run(parameters(method));
    } catch (error) {
      if (error instanceof TelegramError) return failed(error.failure);
      throw error;
    }
  }

  function route(request: PlatformRequest): PlatformReply {
    const { method, path } = request;
    const [, isFile, given = "", rest = ""] = /^\/(file\/)?bot([^/]+)\/(.+)$/.exec(path.replaceAll("%3A", ":")) ?? [];
    if (!/^[1-9]\d{0,15}:[\w-]{30,}$/.test(given)) return failed({ code: 404, description: "Not Found" });
    if (given !== token) return failed({ code: 401, description: "Unauthorized" });
    if (isFile !== undefined) return world.files.serve(decodeURIComponent(rest));
    if (method !== "GET" && method !== "POST") return failed({ code: 405, description: "Method Not Allowed" });
    return call(rest, ({ spec }) => parametersOf(request, spec));
  }

  const base = await startPlatform(route);
  // Getters would be read once by Object.assign.
  return Object.defineProperties(base, {
    isPolled: { get: () => polls.isHeld },
    ...Object.fromEntries(Object.entries(routesOf(world, base.url, failures)).map(([key, value]) => [key, { value }])),
  }) as TelegramPlatform;
}

function routesOf(
  world: World,
  apiUrl: string,
  failures: Map<string, TelegramFailure[]>,
): Omit<TelegramPlatform, keyof FakePlatform | "isPolled"> {
  const { bot, chats, files, polls, webhook, done, presses, clock } = world;
  return {
    apiUrl,
    bot,
    chats,
    files,
    webhook,
    done,
    sent: chats.sent,
    waiting: polls.waiting,
    push(update) {
      const kind = Object.keys(update).find((key) => key !== "update_id") ?? "";
      const isWanted = done.allowedUpdates?.includes(kind) ?? !UNASKED.has(kind);
      if (!isWanted) return undefined;
      const press = update["callback_query"] as { readonly id?: string } | undefined;
      if (press?.id !== undefined) presses.add(press.id);
      const message = update["message"] as { readonly chat: TelegramChat; readonly message_id: number } | undefined;
      if (message !== undefined) chats.note(message.chat, message.message_id);
      const added = polls.add(update);
      if (webhook.url !== undefined) void webhook.deliver();
      return added;
    },
    told: (sent) => sentJson(sent, chats.find(sent.chatId), bot, clock.now()),
    failNext: (method, list) => void failures.set(method, [...list]),
    expirePolls: () => polls.expire(),
    disconnect: () => polls.cut(),
    pollElsewhere: () => polls.terminate("other getUpdates request; make sure that only one bot instance is running"),
  };
}
