/** A conversation's title and source. */
import type { Session } from "@svc/api";
import { Icon, type IconName } from "../../components/icon.tsx";
import { t } from "../../texts/texts.ts";

export const titleOf = ({ title, session_id: name }: Pick<Session, "title" | "session_id">): string => title ?? name;

/** One line without Markdown syntax. */
export const plainPreview = (preview: string): string =>
  preview
    .replaceAll(/!?\[([^[\]]*)\]\([^()]*\)/g, "$1")
    .replaceAll(/(^|\s)(?:#{1,6}|>|[-*+]|```\w*)(?=\s)/g, "$1")
    .replaceAll(/\*\*|__|~~|`+/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();

export interface Source {
  /** For people: the channel's name, "Terminal". */
  readonly name: string;
  /** Undefined: shown as the first letter of the name. */
  readonly icon: IconName | undefined;
}

/** Channels with their own icon. */
const ICONS: Readonly<Record<string, IconName>> = {
  email: "envelope",
  mailpush: "envelope",
  "voice-call": "phone",
  voice_call: "phone",
};

export function sourceOf({ kind, channel, device, session_id: name }: Session): Source {
  if (channel !== null) return { name: capitalized(channel.channel), icon: ICONS[channel.channel] };
  if (kind === "procedure") return { name: t("chats.procedure"), icon: "flow" };
  if (name.startsWith("page-")) return { name: t("chats.page"), icon: "chat" };
  if (device === null) return { name: t("common.terminal"), icon: "term" };
  return { name: device.name, icon: "plug" };
}

const capitalized = (id: string): string => `${id.slice(0, 1).toUpperCase()}${id.slice(1).replaceAll(/[-_]/g, " ")}`;

export function SourceIcon({ source: { name, icon } }: { readonly source: Source }) {
  return (
    <span class="source" title={name}>
      {icon === undefined ? <span aria-hidden="true">{name.slice(0, 1)}</span> : <Icon name={icon} />}
      <span class="unseen">{name}: </span>
    </span>
  );
}
