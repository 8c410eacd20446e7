/** What a method of the Web API is to the fake. */
import type { Json } from "@svc/contract";
import type { Arguments } from "../arguments.ts";
import { SlackRefusal } from "../refusal.ts";
import type { SlackFiles } from "../files.ts";
import { type SlackConversation, SLACK_BOT, type Workspace } from "../workspace.ts";

export interface MethodCall {
  readonly args: Arguments;
  readonly workspace: Workspace;
  readonly files: SlackFiles;
  /** Told of what only tests look at. */
  readonly notes: { status(text: string): void };
  /** Scopes of the token. */
  readonly scopes: ReadonlySet<string>;
}

export interface Method {
  /** What the token must have; of a function by what is asked. */
  readonly scopes: readonly string[] | ((call: MethodCall) => readonly string[]);
  /** Arguments that it documents. */
  readonly args: readonly string[];
  /** Throws `SlackRefusal`. */
  readonly handle: (call: MethodCall) => Readonly<Record<string, Json>>;
}

export const isTs = (text: string): boolean => /^\d{10}\.\d{6}$/.test(text);

export const isMember = ({ isMember: is }: SlackConversation): boolean => is;

/** By id; of a channel by name too, as where something is posted. */
export function conversationAt(
  workspace: Workspace,
  place: string | undefined,
  byName: boolean = false,
): SlackConversation {
  const found =
    workspace.conversations.get(place ?? "") ??
    (byName
      ? [...workspace.conversations.values()].find(
          ({ name }) => name !== undefined && name === place?.replace(/^#/, ""),
        )
      : undefined);
  if (found === undefined) throw new SlackRefusal("channel_not_found");
  return found;
}

/** Scopes of a kind of conversation go by the same words. */
export const kindScope = (conversation: SlackConversation, what: "history" | "read" | "write"): string =>
  `${{ channel: "channels", group: "groups", im: "im", mpim: "mpim" }[conversation.kind]}:${what}`;

export const isOurs = ({ user }: { readonly user: string }): boolean => user === SLACK_BOT.user;
