/** What a request asks an everyday platform to show to people; of what it asks beside that nothing is told here. */
import type { PlatformRequest } from "@svc/testkit/platforms/base";
import type { EVERYDAY } from "@svc/testkit/platforms/everyday";
import { fieldsOf } from "../providers/provider.ts";

export type EverydayChannel = keyof typeof EVERYDAY;

export interface Asking {
  /** `edit`: of something that is there already. */
  readonly kind: "post" | "edit";
  /** As the platform knows it. */
  readonly chat: string;
  readonly text: string;
}

type AskingOf = (request: PlatformRequest) => Asking | undefined;

/** https://core.telegram.org/bots/api#sendmessage, https://core.telegram.org/bots/api#editmessagetext */
const telegram: AskingOf = ({ path, json }) => {
  const kind = ({ sendMessage: "post", editMessageText: "edit" } as const)[path.split("/").at(-1)!];
  const { chat_id: chat, text } = fieldsOf(json);
  return kind && { kind, chat: String(chat), text: String(text) };
};

/** https://docs.discord.com/developers/resources/message */
const discord: AskingOf = ({ method, path, json }) => {
  const [, chat, message] = /\/channels\/(\d+)\/messages(?:\/(\d+))?$/.exec(path) ?? [];
  const isAsked = chat !== undefined && method === (message === undefined ? "POST" : "PATCH");
  if (!isAsked) return undefined;
  return { kind: message === undefined ? "post" : "edit", chat, text: String(fieldsOf(json)["content"]) };
};

/** https://docs.slack.dev/reference/methods/chat.postMessage, https://docs.slack.dev/reference/methods/chat.update */
const slack: AskingOf = ({ path, body }) => {
  const kind = ({ "chat.postMessage": "post", "chat.update": "edit" } as const)[path.split("/").at(-1)!];
  if (kind === undefined) return undefined;
  const form = new URLSearchParams(Buffer.from(body).toString());
  return { kind, chat: form.get("channel") ?? "", text: form.get("text") ?? "" };
};

export const ASKING: Readonly<Record<EverydayChannel, AskingOf>> = { telegram, discord, slack };

/** It may be handed over again for ever, or nobody knows in which order: what a platform says of its past has to be right. */
export const isOfHistory = ({ path }: PlatformRequest): boolean =>
  path.endsWith("/conversations.history") || path.endsWith("/conversations.replies");
