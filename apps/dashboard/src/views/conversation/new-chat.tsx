/** A conversation that does not exist yet: the first message creates it, and it gets its own URL. */
import type { CommandAnswer, Duplicate, MessageAccepted, SessionList } from "@svc/api";
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Heading } from "../../components/layout.tsx";
import { useMayOperate, useServices } from "../../services.ts";
import { hrefOf } from "../../state/route.ts";
import { remember } from "../../state/tab-memory.ts";
import { usePhone } from "../../state/use-window.ts";
import { t } from "../../texts/texts.ts";
import { BackToChats, Chats } from "../chats/chats.tsx";
import { ChatBox } from "./chat-box.tsx";

export function NewChat() {
  const { api } = useServices();
  const [name] = useState(newName);
  const [suggested, setSuggested] = useState(0);
  const send = async (message: string, key: string, files: readonly string[]): Promise<string | undefined> => {
    const body = { message, session_id: name, ...(files.length > 0 && { files }) };
    const headers = { "X-Idempotency-Key": key };
    const begun = await api.call<MessageAccepted | CommandAnswer | Duplicate>("/api/sessions", {
      method: "POST",
      body,
      headers,
    });
    if ("response" in begun) return begun.response;
    const id = "id" in begun ? begun.id : await find();
    if (id !== undefined) location.replace(hrefOf("sessions", id, { from: "chat" }));
    return undefined;
  };
  // The answer to the first try was lost, and this one was a duplicate.
  const find = async (): Promise<string | undefined> => {
    const { sessions } = await api.get<SessionList>("/api/sessions", { limit: 50 });
    return sessions.find(({ session_id: other }) => other === name)?.id;
  };
  // Fills the box without sending, so that it can be edited.
  const suggest = (text: string): void => {
    remember("draft.new", text);
    setSuggested((count) => count + 1);
  };
  return (
    <>
      <Heading title={t("common.new-chat")} keepsFocus start={<BackToChats />} />
      <p class="hint new-chat">{t("sessions.ask-a-question-or-attach")}</p>
      <ul class="bare suggestions" aria-label={t("sessions.suggestions")}>
        {[...SUGGESTIONS.map((key) => t(key)), "/status"].map((text) => (
          <li key={text}>
            <Button onPress={() => suggest(text)}>{text}</Button>
          </li>
        ))}
      </ul>
      <div class="composer">
        <ChatBox key={suggested} autoFocus draft="new" isBusy={false} onSend={send} onStop={async () => {}} />
      </div>
    </>
  );
}

/** Suggested first messages. */
const SUGGESTIONS = [
  "sessions.what-can-you-do-here",
  "sessions.which-files-are-in-my",
  "sessions.help-me-plan-this-week",
] as const;

/** `page-2026-11-21-k3f9`: a unique name with the date. */
function newName(): string {
  const random = Array.from(crypto.getRandomValues(new Uint8Array(4)), (byte) => (byte % 36).toString(36)).join("");
  return `page-${new Date().toISOString().slice(0, 10)}-${random}`;
}

/** The home view: a new chat beside the list; on a phone the list itself. */
export function Home() {
  const isPhone = usePhone();
  const mayOperate = useMayOperate();
  if (isPhone) return <Chats current={undefined} isAlone />;
  if (mayOperate) return <NewChat />;
  return (
    <>
      <Heading title={t("chats.select-a-conversation")} />
      <p class="hint">{t("chats.this-device-can-read-conversations")}</p>
    </>
  );
}
