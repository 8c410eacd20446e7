/** The workspace: who is there, where they write, and what was written. */
import type { Json } from "@svc/contract";
import type { SeenButton } from "./blocks.ts";

export interface SlackPerson {
  readonly id: string;
  readonly name: string;
  /** What people are shown as. */
  readonly displayName?: string;
  readonly deleted?: boolean;
}

export type ConversationKind = "channel" | "group" | "im" | "mpim";

export interface SlackConversation {
  readonly id: string;
  readonly kind: ConversationKind;
  readonly name: string | undefined;
  /** Of a conversation of two: the other one. */
  readonly user: string | undefined;
  isMember: boolean;
  isArchived: boolean;
  /** Oldest first. */
  readonly messages: SlackStored[];
}

export interface SlackStored {
  readonly ts: string;
  readonly user: string;
  /** Of ours. */
  readonly botId?: string;
  readonly subtype?: string;
  readonly threadTs?: string;
  readonly files?: readonly Json[];
  text: string;
  blocks?: Json;
  buttons: readonly SeenButton[];
  /** What people see. */
  seen: string;
  edits: number;
  /** `name user`. */
  readonly reactions: Set<string>;
}

/** Who we are there. */
export const SLACK_TEAM = { id: "T0123ABCD", name: "Acme", domain: "acme" } as const;
export const SLACK_BOT = { user: "U0B0TUSER", bot: "B0B0T1234", app: "A0APP1234", name: "svc" } as const;

/** Of every person the same, so that a delivery can be made without asking. */
export const slackDmOf = (user: string): string => `D${user.slice(1)}`;

export interface Workspace {
  readonly people: Map<string, SlackPerson>;
  readonly conversations: Map<string, SlackConversation>;
  /** A timestamp that is later than all before, in the second of `atMs` where that is possible. */
  nextTs(atMs?: number): string;
  /** Opens a conversation of two. */
  dm(user: string): SlackConversation;
  add(conversation: Pick<SlackConversation, "id" | "kind"> & Partial<SlackConversation>): SlackConversation;
  post(conversation: SlackConversation, message: Omit<SlackStored, "edits" | "reactions">): SlackStored;
  find(conversation: SlackConversation, ts: string): SlackStored | undefined;
}

/** The first timestamp of all, in seconds. */
const BEGINNING_S = 1_750_000_000;

export function workspaceOf(people: readonly SlackPerson[]): Workspace {
  const conversations = new Map<string, SlackConversation>();
  let last = { seconds: BEGINNING_S, micros: 0 };
  const workspace: Workspace = {
    people: new Map(people.map((person) => [person.id, person])),
    conversations,
    nextTs(atMs) {
      const seconds = atMs === undefined ? last.seconds : Math.floor(atMs / 1000);
      const isLater = seconds > last.seconds;
      last = isLater ? { seconds, micros: 1 } : { ...last, micros: last.micros + 1 };
      return `${last.seconds}.${String(last.micros).padStart(6, "0")}`;
    },
    add({ id, kind, ...more }) {
      const conversation: SlackConversation = {
        id,
        kind,
        name: undefined,
        user: undefined,
        isMember: true,
        isArchived: false,
        messages: [],
        ...more,
      };
      conversations.set(id, conversation);
      return conversation;
    },
    dm: (user) => conversations.get(slackDmOf(user)) ?? workspace.add({ id: slackDmOf(user), kind: "im", user }),
    post(conversation, message) {
      const stored: SlackStored = { ...message, edits: 0, reactions: new Set() };
      conversation.messages.push(stored);
      conversation.messages.sort((one, other) => (one.ts < other.ts ? -1 : 1));
      return stored;
    },
    find: (conversation, ts) => conversation.messages.find((message) => message.ts === ts),
  };
  return workspace;
}

/** As the platform shows a message, in answers and in events. */
export function messageJson(message: SlackStored, replies: readonly SlackStored[] = []): Record<string, Json> {
  const { ts, user, text, botId, subtype, threadTs, files, blocks, edits, reactions } = message;
  return {
    type: "message",
    user,
    text,
    ts,
    ...(subtype !== undefined && { subtype }),
    ...(botId !== undefined && { bot_id: botId, app_id: SLACK_BOT.app, team: SLACK_TEAM.id }),
    ...(threadTs !== undefined && { thread_ts: threadTs }),
    ...(files !== undefined && { files, upload: false }),
    ...(blocks !== undefined && { blocks }),
    ...(edits > 0 && { edited: { user, ts } }),
    ...(reactions.size > 0 && { reactions: reactionsJson(reactions) }),
    ...(replies.length > 0 && {
      thread_ts: ts,
      reply_count: replies.length,
      reply_users: [...new Set(replies.map((reply) => reply.user))],
      latest_reply: replies.at(-1)!.ts,
    }),
  };
}

function reactionsJson(reactions: ReadonlySet<string>): Json {
  const names = new Map<string, string[]>();
  for (const reaction of reactions) {
    const [name = "", user = ""] = reaction.split(" ");
    names.set(name, [...(names.get(name) ?? []), user]);
  }
  return [...names].map(([name, users]) => ({ name, users, count: users.length }));
}

export const repliesOf = ({ messages }: SlackConversation, ts: string): SlackStored[] =>
  messages.filter(({ threadTs, ts: own }) => threadTs === ts && own !== ts);
