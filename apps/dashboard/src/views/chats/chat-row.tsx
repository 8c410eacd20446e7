import type { Conversation } from "../../api/shapes.ts";
import { Icon } from "../../parts/icon.tsx";
import { BriefAgo } from "../../parts/time.tsx";
import { hrefOf } from "../../route/route.ts";
import { plainPreview, sourceOf, titleOf } from "./chat-words.ts";
import { SourceIcon } from "./source-icon.tsx";
import { t } from "../../texts/texts.ts";

interface Props {
  readonly chat: Conversation;
  readonly isCurrent: boolean;
}

export function ChatRow({ chat, isCurrent }: Props) {
  const { id, preview, unread, pinned, running, updated_at: at } = chat;
  return (
    <a
      class={unread > 0 ? "chat-row unread" : "chat-row"}
      href={hrefOf("sessions", id)}
      aria-current={isCurrent ? "page" : undefined}
    >
      <SourceIcon source={sourceOf(chat)} />
      <bdi class="chat-title">{titleOf(chat)}</bdi>
      <span class="chat-time">
        <BriefAgo at={at} />
      </span>
      <span class="chat-preview" dir="auto">
        {running ? <span class="working">{t("chats.answering")}</span> : plainPreview(preview)}
      </span>
      <span class="chat-marks">
        {pinned && <Icon name="pin" label={t("chats.pinned")} />}
        {unread > 0 && (
          <span class="unread-count">
            {unread > 99 ? "99+" : unread}
            <span class="unseen"> {t("chats.unread")}</span>
          </span>
        )}
      </span>
    </a>
  );
}
