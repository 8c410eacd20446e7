/** One conversation: heading, thread and message box. */
import type { CommandAnswer, Duplicate, MessageAccepted, ReplyByHandAccepted, Session, SessionMessage } from "@svc/api";
import { useEffect, useState } from "preact/hooks";
import { path } from "../../client/api.ts";
import { Button } from "../../components/button.tsx";
import { Heading } from "../../components/layout.tsx";
import { Problem, Shown } from "../../components/shown.tsx";
import { useMayOperate, useServices } from "../../services.ts";
import { useCell } from "../../cell.ts";
import { hrefOf } from "../../state/route.ts";
import { useAction } from "../../state/use-action.ts";
import { useList } from "../../state/use-reader.ts";
import { t } from "../../texts/texts.ts";
import { AgentPicker, ChatMenu } from "../chats/chat-menu.tsx";
import { sourceOf, titleOf } from "../chats/chat-name.tsx";
import { BackToChats } from "../chats/chats.tsx";
import { ChatBox } from "./chat-box.tsx";
import { Thread } from "./thread.tsx";
import { type TranscriptView, useLiveTurns, useTranscript } from "./transcript.ts";

export function Conversation({ id }: { readonly id: string }) {
  const info = useList<Session>(path`/api/sessions/${id}`, ["sessions"]);
  return info.data ? <Known info={info.data} /> : <Unknown info={info} />;
}

function Unknown({ info }: { readonly info: ReturnType<typeof useList<Session>> }) {
  return (
    <>
      <Heading title={t("common.conversation")} />
      <Shown read={info}>{() => null}</Shown>
      {info.error && (
        <p>
          <a href={hrefOf("")}>{t("common.all-conversations")}</a>
        </p>
      )}
    </>
  );
}

function Known({ info }: { readonly info: Session }) {
  const { api, route } = useServices();
  const mayOperate = useMayOperate();
  const shown = useTranscript(info.id);
  const turns = useLiveTurns(info.id, shown.transcript);
  useMarkRead(info);
  useJump(shown);
  const isFresh = route.value.query["from"] === "chat";
  const canWrite = mayOperate && info.kind !== "procedure";
  const isReply = info.kind === "channel";
  // In a channel's conversation only a running answer can be stopped; a waiting one may be answered by hand.
  const isOn = ({ state }: SessionMessage): boolean => state === "running" || (!isReply && state === "waiting");
  const isBusy = shown.transcript?.messages.some(isOn) ?? info.running;
  const stop = (): Promise<unknown> => api.call(path`/api/sessions/${info.id}/cancel`, { method: "POST" });
  const send = async (message: string, key: string, files: readonly string[]): Promise<string | undefined> => {
    const url = isReply ? path`/api/sessions/${info.id}/reply` : path`/api/sessions/${info.id}/messages`;
    const headers = { "X-Idempotency-Key": key };
    const accepted = await api.call<MessageAccepted | ReplyByHandAccepted | CommandAnswer | Duplicate>(url, {
      method: "POST",
      body: files.length > 0 ? { message, files } : { message },
      headers,
    });
    await shown.sent();
    return "response" in accepted ? accepted.response : undefined;
  };
  return (
    <>
      <Heading title={titleOf(info)} keepsFocus={isFresh} start={<BackToChats />}>
        {mayOperate && !canWrite && info.running && <Stop info={info} />}
        {mayOperate && <AgentPicker chat={info} />}
        {mayOperate && <ChatMenu chat={info} />}
      </Heading>
      <p class="hint chat-source">
        {sourceOf(info).name} {info.channel?.id ?? ""}{" "}
        {info.archived && <span class="mark">{t("sessions.archived")}</span>}
      </p>
      <Shown read={shown.read}>
        {() => (
          <Thread conversation={info.id} shown={shown} turns={turns}>
            {canWrite ? (
              <ChatBox
                autoFocus={isFresh}
                draft={info.id}
                isBusy={isBusy}
                isReply={isReply}
                onSend={send}
                onStop={stop}
              />
            ) : (
              <p class="hint">
                {mayOperate ? t("sessions.this-conversation-belongs-to-a") : t("sessions.this-device-can-only-read")}
              </p>
            )}
          </Thread>
        )}
      </Shown>
    </>
  );
}

/** For conversations without a message box, which has its own stop button. */
function Stop({ info }: { readonly info: Session }) {
  const { api } = useServices();
  const stop = useAction(() => api.call(path`/api/sessions/${info.id}/cancel`, { method: "POST" }));
  return (
    <>
      <Problem error={stop.error} />
      <Button busy={stop.isRunning} onPress={() => void stop.run()}>
        {t("common.stop")}
      </Button>
    </>
  );
}

/** Highlighted until the reader leaves. */
const FOUND = "found-message";

/** Scrolls to a message that was searched for, loading earlier pages if needed. */
function useJump({ transcript, earlier }: TranscriptView): void {
  const { turn } = useCell(useServices().route).query;
  const [done, setDone] = useState<string>();
  const isThere = transcript?.messages.some(({ turn_id: id }) => id === turn) ?? false;
  const hasEarlier = (transcript?.before ?? null) !== null;
  useEffect(() => {
    if (turn === undefined || turn === done) return;
    if (isThere) {
      setDone(turn);
      show(turn);
    } else if (hasEarlier && !earlier.isRunning && earlier.error === undefined) void earlier.run();
  }, [turn, done, isThere, hasEarlier, earlier.isRunning, transcript]);
}

function show(turn: string): void {
  for (const old of document.querySelectorAll(`.${FOUND}`)) old.classList.remove(FOUND);
  const messages = document.querySelectorAll<HTMLElement>(`[data-turn="${CSS.escape(turn)}"]`);
  for (const message of messages) message.classList.add(FOUND);
  const scroll = (): void => messages[0]?.scrollIntoView({ block: "center" });
  scroll();
  // A list that grows in this frame scrolls a reader at its end once more, so scroll after that.
  requestAnimationFrame(() => requestAnimationFrame(scroll));
}

/** Marks a conversation as read while it is open in a visible page. */
function useMarkRead({ id, turns, unread }: Pick<Session, "id" | "turns" | "unread">): void {
  const { api, live } = useServices();
  const mayOperate = useMayOperate();
  useEffect(() => {
    if (unread === 0 || !mayOperate) return;
    const mark = (): void => {
      if (document.visibilityState !== "visible") return;
      document.removeEventListener("visibilitychange", mark);
      const marked = api.call(path`/api/sessions/${id}/read`, { method: "POST", body: { turns } });
      // On failure it stays unread until the next turn.
      void marked.then(() => live.markStale(["sessions"])).catch(() => {});
    };
    document.addEventListener("visibilitychange", mark);
    mark();
    return () => document.removeEventListener("visibilitychange", mark);
  }, [id, turns, unread, mayOperate]);
}
