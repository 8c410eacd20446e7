/** The methods that it knows: their parameters, and what they do. https://core.telegram.org/bots/api#available-methods */
import type { Clock, Json } from "@svc/contract";
import type { PlatformReply } from "../base.ts";
import { badRequest, succeeded } from "./answer.ts";
import type { Chats, TelegramSent } from "./chats.ts";
import { EDIT_MARKUP, EDIT_TEXT, editMarkup, editText, type Reaction, SET_REACTION, setReaction } from "./editing.ts";
import type { Files } from "./files.ts";
import { botJson, type BotUser, sentJson } from "./message-json.ts";
import type { Parameters, ParameterSpec } from "./parameters.ts";
import type { Polls } from "./polls.ts";
import { FILE_METHODS, fileSpec, SEND_MESSAGE, sendFile, sendMessage } from "./sending.ts";
import { failed } from "./answer.ts";
import { DELETE_WEBHOOK, SET_WEBHOOK, type Webhook } from "./webhook.ts";

export interface Method {
  readonly spec: ParameterSpec;
  readonly run: (parameters: Parameters) => PlatformReply;
}

export interface World {
  readonly bot: BotUser;
  /** Whether it gets all messages of groups. */
  readonly readsGroups: boolean;
  readonly chats: Chats;
  readonly files: Files;
  readonly polls: Polls;
  readonly webhook: Webhook;
  /** Counts a message against the limits. */
  readonly count: (chatId: number) => void;
  readonly clock: Pick<Clock, "now">;
  /** What was done beside messages, in order. */
  readonly done: {
    readonly actions: { readonly chatId: number; readonly threadId: number | undefined; readonly action: string }[];
    readonly reactions: Reaction[];
    /** Presses that were answered. */
    readonly answered: string[];
    commands: Json[];
    allowedUpdates: readonly string[] | undefined;
  };
  /** Presses that wait for their answer. */
  readonly presses: Set<string>;
}

const ACTIONS =
  "typing upload_photo record_video upload_video record_voice upload_voice upload_document choose_sticker find_location record_video_note upload_video_note";

export function methodsOf(world: World): ReadonlyMap<string, Method> {
  const { chats, files, polls, webhook, bot, done } = world;
  const replyOf = (one: TelegramSent): PlatformReply =>
    succeeded(sentJson(one, chats.find(one.chatId), bot, world.clock.now()));
  const counted =
    (work: (parameters: Parameters) => TelegramSent): Method["run"] =>
    (parameters) => {
      world.count(chats.find(parameters.values["chat_id"] as Json).id);
      return replyOf(work(parameters));
    };
  const yes = succeeded(true);

  const methods: Readonly<Record<string, Method>> = {
    getMe: { spec: {}, run: () => succeeded(meJson(world)) },
    sendMessage: { spec: SEND_MESSAGE, run: counted((given) => sendMessage(chats, given)) },
    editMessageText: { spec: EDIT_TEXT, run: counted((given) => editText(chats, given)) },
    editMessageReplyMarkup: { spec: EDIT_MARKUP, run: counted((given) => editMarkup(chats, given)) },
    sendChatAction: {
      spec: { chat_id: "chat!", message_thread_id: "integer", action: "text!" },
      run({ values }) {
        const { id: chatId } = chats.find(values["chat_id"] as Json);
        const action = values["action"] as string;
        if (!ACTIONS.split(" ").includes(action)) throw badRequest("wrong parameter action in request");
        done.actions.push({ chatId, threadId: values["message_thread_id"] as number | undefined, action });
        return yes;
      },
    },
    setMessageReaction: {
      spec: SET_REACTION,
      run(given) {
        done.reactions.push(setReaction(chats, given));
        return yes;
      },
    },
    answerCallbackQuery: {
      spec: { callback_query_id: "text!", text: "text", show_alert: "boolean", cache_time: "integer" },
      run({ values }) {
        const id = values["callback_query_id"] as string;
        if (!world.presses.delete(id)) {
          throw badRequest("query is too old and response timeout expired or query ID is invalid");
        }
        if (((values["text"] ?? "") as string).length > 200) throw badRequest("MESSAGE_TOO_LONG");
        done.answered.push(id);
        return yes;
      },
    },
    getFile: { spec: { file_id: "text!" }, run: ({ values }) => succeeded(files.describe(values["file_id"] as Json)) },
    setMyCommands: {
      spec: { commands: "list!", scope: "object", language_code: "text" },
      run({ values }) {
        done.commands = checkedCommands(values["commands"] as Json[]);
        return yes;
      },
    },
    getMyCommands: { spec: { scope: "object", language_code: "text" }, run: () => succeeded(done.commands) },
    getWebhookInfo: { spec: {}, run: () => succeeded(webhook.info()) },
    setWebhook: {
      spec: SET_WEBHOOK,
      run({ values }) {
        webhook.set(values);
        subscribe(world, values);
        if (values["drop_pending_updates"] === true) polls.clear();
        polls.terminate("setWebhook request");
        void webhook.deliver();
        return yes;
      },
    },
    deleteWebhook: {
      spec: DELETE_WEBHOOK,
      run({ values }) {
        webhook.remove();
        if (values["drop_pending_updates"] === true) polls.clear();
        return yes;
      },
    },
    getUpdates: {
      spec: { offset: "integer", limit: "integer", timeout: "integer", allowed_updates: "list" },
      run: ({ values }) => updatesFor(world, values),
    },
    ...Object.fromEntries(
      Object.entries(FILE_METHODS).map(([name, { kind }]): [string, Method] => [
        name,
        { spec: fileSpec(kind), run: counted((given) => sendFile(chats, name, given)) },
      ]),
    ),
  };
  // All methods are case-insensitive.
  return new Map(Object.entries(methods).map(([name, method]) => [name.toLowerCase(), method]));
}

function updatesFor(world: World, values: Parameters["values"]): PlatformReply {
  if (world.webhook.url !== undefined) {
    const description =
      "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first";
    return failed({ code: 409, description });
  }
  subscribe(world, values);
  const { offset, limit, timeout } = values as Readonly<Record<string, number | undefined>>;
  return world.polls.ask({ offset, limit, timeoutSecs: timeout });
}

/** Of updates that are made from now on; not said, it stays as it was. */
function subscribe({ done }: World, { allowed_updates: allowed }: Parameters["values"]): void {
  if (allowed === undefined) return;
  done.allowedUpdates = (allowed as string[]).length === 0 ? undefined : (allowed as string[]);
}

const meJson = ({ bot, readsGroups }: World): Record<string, Json> => ({
  ...botJson(bot),
  can_join_groups: true,
  can_read_all_group_messages: readsGroups,
  supports_guest_queries: false,
  supports_inline_queries: false,
  can_connect_to_business: false,
  has_main_web_app: false,
  has_topics_enabled: false,
  allows_users_to_create_topics: false,
  can_manage_bots: false,
  supports_join_request_queries: false,
});

function checkedCommands(commands: Json[]): Json[] {
  for (const { command, description } of commands as Record<string, Json>[]) {
    if (!/^[a-z0-9_]{1,32}$/.test(String(command))) throw badRequest("BOT_COMMAND_INVALID");
    const length = typeof description === "string" ? description.length : 0;
    if (length < 1 || length > 256) throw badRequest("BOT_COMMAND_DESCRIPTION_INVALID");
  }
  return commands;
}
