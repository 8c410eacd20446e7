import { path } from "../../api/client.ts";
import type { Conversation as Info, Message } from "../../api/shapes.ts";
import { Button } from "../../parts/button.tsx";
import { Heading } from "../../parts/heading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Shown } from "../../parts/shown.tsx";
import { hrefOf } from "../../route/route.ts";
import { useServices } from "../../services.ts";
import { useMayOperate } from "../../session/use-device.ts";
import { useAction } from "../../state/use-action.ts";
import { useList } from "../../state/use-reader.ts";
import { AgentPicker } from "../chats/agent-picker.tsx";
import { BackToChats } from "../chats/back.tsx";
import { ChatMenu } from "../chats/chat-menu.tsx";
import { sourceOf, titleOf } from "../chats/chat-words.ts";
import { useJump } from "../chats/use-jump.ts";
import { useMarkRead } from "../chats/use-mark-read.ts";
import { ChatBox } from "./chat-box.tsx";
import { Thread } from "./thread.tsx";
import { useLiveTurns } from "./use-live-turns.ts";
import { useTranscript } from "./use-transcript.ts";
import { t } from "../../texts/texts.ts";

export function Conversation({ id }: { readonly id: string }) {
  const info = useList<Info>(path`/api/sessions/${id}`, ["sessions"]);
  return info.data ? <Known info={info.data} /> : <Unknown info={info} />;
}

function Unknown({ info }: { readonly info: ReturnType<typeof useList<Info>> }) {
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

function Known({ info }: { readonly info: Info }) {
  const { api, route } = useServices();
  const mayOperate = useMayOperate();
  const shown = useTranscript(info.id);
  const turns = useLiveTurns(info.id, shown.transcript);
  useMarkRead(info);
  useJump(shown);
  const isFresh = route.value.query["from"] === "chat";
  const canWrite = mayOperate && info.kind !== "procedure";
  const isReply = info.kind === "channel";
  // What waits on a channel can be answered by hand; there only an answer that runs is stopped.
  const isOn = ({ state }: Message): boolean => state === "running" || (!isReply && state === "waiting");
  const isBusy = shown.transcript?.messages.some(isOn) ?? info.running;
  const stop = (): Promise<unknown> => api.call(path`/api/sessions/${info.id}/cancel`, { method: "POST" });
  const send = async (message: string, key: string, files: readonly string[]): Promise<string | undefined> => {
    const url = isReply ? path`/api/sessions/${info.id}/reply` : path`/api/sessions/${info.id}/messages`;
    const headers = { "X-Idempotency-Key": key };
    const { response } = await api.call<{ readonly response?: string }>(url, {
      method: "POST",
      body: files.length > 0 ? { message, files } : { message },
      headers,
    });
    await shown.sent();
    return response;
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

/** Where one can write, what runs is stopped in the message box. */
function Stop({ info }: { readonly info: Info }) {
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
