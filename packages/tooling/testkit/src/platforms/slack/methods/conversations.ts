/** https://docs.slack.dev/reference/methods/conversations.history, conversations.replies, conversations.open, users.conversations */
import type { Json } from "@svc/contract";
import { badArguments, SlackRefusal } from "../refusal.ts";
import { messageJson, repliesOf, type SlackConversation, type SlackStored } from "../workspace.ts";
import { conversationAt, isMember, isTs, kindScope, type Method, type MethodCall } from "./method.ts";

const PAGING = ["limit", "cursor"];
const WINDOW = ["oldest", "latest", "inclusive", "include_all_metadata"];

const ofConversation = ({ args, workspace }: MethodCall): SlackConversation =>
  conversationAt(workspace, args.needed("channel", "channel_not_found"));

const historyScopes = (call: MethodCall): string[] => [kindScope(ofConversation(call), "history")];

export const history: Method = {
  scopes: historyScopes,
  args: ["channel", ...PAGING, ...WINDOW],
  handle(call) {
    const conversation = ofConversation(call);
    if (!isMember(conversation)) throw new SlackRefusal("not_in_channel");
    // Replies are in their threads, unless they were sent to the room as well.
    const top = conversation.messages.filter(
      ({ threadTs, ts, subtype }) => threadTs === undefined || threadTs === ts || subtype === "thread_broadcast",
    );
    const newestFirst = top.filter(inWindow(call)).toReversed();
    const { page, more } = paged(call, newestFirst, 999);
    return { messages: page.map((message) => messageJson(message, repliesOf(conversation, message.ts))), ...more };
  },
};

export const replies: Method = {
  scopes: historyScopes,
  args: ["channel", "ts", ...PAGING, ...WINDOW],
  handle(call) {
    const conversation = ofConversation(call);
    const ts = call.args.needed("ts");
    if (!isMember(conversation)) throw new SlackRefusal("not_in_channel");
    const parent = conversation.messages.find((message) => message.ts === ts);
    if (parent === undefined) throw new SlackRefusal("thread_not_found");
    const { page, more } = paged(call, repliesOf(conversation, ts).filter(inWindow(call)), 999);
    const all = repliesOf(conversation, ts);
    return { messages: [messageJson(parent, all), ...page.map((message) => messageJson(message))], ...more };
  },
};

export const open: Method = {
  scopes: ["im:write"],
  args: ["users", "channel", "return_im", "prevent_creation"],
  handle({ args, workspace }) {
    const users = args.needed("users", "users_list_not_supplied").split(",");
    const [user = ""] = users;
    const person = workspace.people.get(user);
    if (person === undefined || users.length > 1) throw new SlackRefusal("user_not_found");
    if (person.deleted === true) throw new SlackRefusal("user_disabled");
    return { channel: { id: workspace.dm(user).id } };
  },
};

const TYPES = { public_channel: "channel", private_channel: "group", im: "im", mpim: "mpim" } as const;

export const ofUser: Method = {
  scopes: ({ args }) => typesOf(args.text("types")).map((type) => `${SCOPES[type]}:read`),
  args: ["types", "exclude_archived", "user", ...PAGING],
  handle(call) {
    const { args, workspace } = call;
    const kinds = new Set<string>(typesOf(args.text("types")).map((type) => TYPES[type]));
    const noArchived = args.flag("exclude_archived", false);
    const found = [...workspace.conversations.values()].filter(
      ({ kind, isMember: is, isArchived }) => is && kinds.has(kind) && !(noArchived && isArchived),
    );
    const { page, more } = paged(call, found, 999);
    return { channels: page.map(conversationJson), ...more };
  },
};

const SCOPES = { public_channel: "channels", private_channel: "groups", im: "im", mpim: "mpim" } as const;

function typesOf(text: string = "public_channel"): (keyof typeof TYPES)[] {
  const types = text.split(",").map((type) => type.trim());
  if (!types.every((type) => type in TYPES)) throw new SlackRefusal("invalid_types");
  return types as (keyof typeof TYPES)[];
}

const conversationJson = ({ id, kind, name, user, isArchived }: SlackConversation): Json => ({
  id,
  ...(name !== undefined && { name }),
  ...(user !== undefined && { user }),
  is_channel: kind === "channel",
  is_group: kind === "group",
  is_im: kind === "im",
  is_mpim: kind === "mpim",
  is_private: kind !== "channel",
  is_archived: isArchived,
  is_member: true,
});

function inWindow({ args }: MethodCall): (message: SlackStored) => boolean {
  const [oldest, latest] = (["oldest", "latest"] as const).map((name) => {
    const ts = args.text(name);
    if (ts !== undefined && !isTs(ts) && !/^\d{1,10}(?:\.\d{1,6})?$/.test(ts))
      throw new SlackRefusal(`invalid_ts_${name}`);
    return ts;
  });
  const isIncluding = args.flag("inclusive", false);
  return ({ ts }) => {
    const isAfter = oldest === undefined || Number(ts) > Number(oldest) || (isIncluding && ts === oldest);
    return isAfter && (latest === undefined || Number(ts) < Number(latest) || (isIncluding && ts === latest));
  };
}

function paged<T>(
  { args }: MethodCall,
  all: readonly T[],
  most: number,
): { page: readonly T[]; more: Record<string, Json> } {
  const limit = args.whole("limit", 100, 1, most);
  const cursor = Buffer.from(args.text("cursor") ?? "", "base64").toString();
  if (cursor !== "" && !/^next:\d+$/.test(cursor)) throw new SlackRefusal("invalid_cursor");
  const from = cursor === "" ? 0 : Number(cursor.slice(5));
  if (from > all.length) throw badArguments("no such cursor");
  const hasMore = from + limit < all.length;
  const next = hasMore ? Buffer.from(`next:${from + limit}`).toString("base64") : "";
  return { page: all.slice(from, from + limit), more: { has_more: hasMore, response_metadata: { next_cursor: next } } };
}
