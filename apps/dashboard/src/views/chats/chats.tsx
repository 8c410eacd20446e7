/** The list of conversations beside the open one; on a phone a separate screen. */
import type { Session } from "@svc/api";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Icon } from "../../components/icon.tsx";
import { Empty } from "../../components/layout.tsx";
import { Problem } from "../../components/shown.tsx";
import { BriefAgo } from "../../components/values.tsx";
import { useDevice, useMayOperate, useServices } from "../../services.ts";
import { useCell } from "../../cell.ts";
import { hrefOf } from "../../state/route.ts";
import { remember, remembered } from "../../state/tab-memory.ts";
import { usePhone } from "../../state/use-window.ts";
import { PRODUCT, language, t } from "../../texts/texts.ts";
import { ChatList, heightOf, listRows, rowsInSight } from "./chat-list.ts";
import { plainPreview, SourceIcon, sourceOf, titleOf } from "./chat-name.tsx";
import { SearchResults } from "./search-results.tsx";

interface ChatsProps {
  /** Id of the open conversation. */
  readonly current: string | undefined;
  /** The list fills the screen. */
  readonly isAlone?: boolean;
}

/** Where shortcuts and the palette find the field. */
export const SEARCH_FIELD = "chat-search";

export function Chats({ current, isAlone = false }: ChatsProps) {
  const { route } = useServices();
  const mayOperate = useMayOperate();
  const { query } = useCell(route);
  const [isArchive, setArchive] = useState(query["archived"] === "true");
  const [text, setText] = useState("");
  const Title = isAlone ? "h1" : "h2";
  const title = isArchive ? t("common.archive") : t("chats.chats");
  useEffect(() => {
    if (isAlone) document.title = `${title} · ${PRODUCT}`;
  }, [isAlone, title]);
  const leave = (event: KeyboardEvent): void => {
    if (event.key === "Escape" && text !== "") {
      event.stopPropagation();
      setText("");
    }
  };
  return (
    <div class="chats">
      <header class="chats-head">
        {isArchive && (
          <button
            type="button"
            class="icon-button"
            aria-label={t("common.back-to-chats")}
            onClick={() => setArchive(false)}
          >
            <Icon name="back" />
          </button>
        )}
        <Title class="chats-title" tabIndex={-1}>
          {title}
        </Title>
        {!isArchive && (
          <button
            type="button"
            class="icon-button"
            aria-label={t("common.archive")}
            title={t("common.archive")}
            onClick={() => setArchive(true)}
          >
            <Icon name="box" />
          </button>
        )}
        {mayOperate && (
          <a class="icon-button" href={hrefOf("chat")} aria-label={t("common.new-chat")} title={t("common.new-chat")}>
            <Icon name="plus" />
          </a>
        )}
      </header>
      <div class="chats-search">
        <Icon name="find" />
        <input
          id={SEARCH_FIELD}
          type="search"
          aria-label={t("chats.search-all-messages")}
          placeholder={t("chats.search")}
          maxLength={200}
          spellcheck={false}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
          onKeyDown={leave}
        />
      </div>
      {text.trim() === "" ? (
        <List key={String(isArchive)} archived={isArchive} current={current} />
      ) : (
        <SearchResults query={text.trim()} />
      )}
    </div>
  );
}

function List({ archived, current }: { readonly archived: boolean; readonly current: string | undefined }) {
  const { api, live, nowMs } = useServices();
  const list = useMemo(() => new ChatList(api, archived), [api, archived]);
  useEffect(() => {
    void list.refresh();
    const end = live.listen({
      stale(topics) {
        if (topics === undefined || topics.includes("sessions")) list.stale();
      },
    });
    return () => {
      end();
      list.stop();
    };
  }, [list, live]);
  const page = useCell(list.rows);
  const { error } = useCell(list.state);
  const now = useCell(nowMs);
  const rows = useMemo(() => listRows(page?.sessions ?? NONE, now), [page, now, language()]);
  return (
    <>
      <Problem error={error} what={page === undefined ? "" : t("common.this-may-be-out-of")} />
      {page === undefined && error === undefined && <p class="reading">{t("common.loading")}</p>}
      {page?.sessions.length === 0 && <Nothing archived={archived} />}
      {rows.length > 0 && (
        <VirtualRows
          name={archived ? "archive" : "chats"}
          rows={rows}
          current={current}
          onEnd={() => void list.more()}
        />
      )}
    </>
  );
}

const NONE: readonly Session[] = [];

function Nothing({ archived }: { readonly archived: boolean }) {
  const device = useDevice();
  if (archived)
    return <Empty title={t("chats.nothing-is-archived")}>{t("chats.archived-conversations-come-back-with")}</Empty>;
  return (
    <Empty
      title={
        device?.scope === "operator" ? t("chats.no-conversations-yet") : t("chats.no-conversations-of-this-device")
      }
    >
      {device?.scope === "operator" && <a href={hrefOf("chat")}>{t("chats.start-a-chat")}</a>}
    </Empty>
  );
}

interface RowsProps {
  /** Key of the remembered scroll position. */
  readonly name: string;
  readonly rows: ReturnType<typeof listRows>;
  readonly current: string | undefined;
  /** The end becomes visible. */
  readonly onEnd: () => void;
}

/** Renders only visible rows: the list may have ten thousand. */
function VirtualRows({ name, rows, current, onEnd }: RowsProps) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: window.innerHeight });
  const look = (): void => {
    const element = box.current;
    if (element === null) return;
    const top = Math.round(element.scrollTop);
    remember(`scroll.${name}`, top === 0 ? undefined : String(top));
    setView({ top: element.scrollTop, height: element.clientHeight });
  };
  useLayoutEffect(() => {
    const element = box.current!;
    element.scrollTop = Number(remembered(`scroll.${name}`) ?? 0);
    look();
    const resized = new ResizeObserver(look);
    resized.observe(element);
    return () => resized.disconnect();
  }, []);
  const height = heightOf(rows);
  const isAtEnd = view.top + view.height > height - END_PX;
  useEffect(() => {
    if (isAtEnd) onEnd();
  }, [isAtEnd, height]);
  return (
    // A region that scrolls must be reachable by keyboard; its rows are links.
    <div class="chat-scroll" ref={box} onScroll={look}>
      <ul class="chat-rows" style={{ height: `${height}px` }} aria-label={t("common.conversations")}>
        {rowsInSight(rows, view.top, view.height).map((row) => (
          <li key={row.key} style={{ transform: `translateY(${row.top}px)` }}>
            {row.kind === "head" ? (
              <span class="chat-day">{row.text}</span>
            ) : (
              <ChatRow chat={row.chat} isCurrent={row.chat.id === current} />
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Distance from the end at which the next page is read. */
const END_PX = 1200;

interface ChatRowProps {
  readonly chat: Session;
  readonly isCurrent: boolean;
}

function ChatRow({ chat, isCurrent }: ChatRowProps) {
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

/** A link to the list, on a phone only: there it is another screen. */
export function BackToChats() {
  if (!usePhone()) return null;
  return (
    <a class="icon-button" href={hrefOf("")} aria-label={t("common.back-to-chats")}>
      <Icon name="back" />
    </a>
  );
}
