import { path } from "../../api/client.ts";
import type { Conversation as Info } from "../../api/shapes.ts";
import { Button } from "../../parts/button.tsx";
import { Confirmed } from "../../parts/confirmed.tsx";
import { Heading } from "../../parts/heading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Shown } from "../../parts/shown.tsx";
import { hrefOf } from "../../route/route.ts";
import { useServices } from "../../services.ts";
import { useDevice, useMayOperate } from "../../session/use-device.ts";
import { useAction } from "../../state/use-action.ts";
import { useList } from "../../state/use-reader.ts";
import { ChatBox } from "./chat-box.tsx";
import { Owner } from "./owner.tsx";
import { Thread } from "./thread.tsx";
import { useChat } from "./use-chat.ts";
import { useLiveTurns } from "./use-live-turns.ts";
import { useTranscript } from "./use-transcript.ts";

export function Conversation({ id }: { readonly id: string }) {
  const info = useList<Info>(path`/api/sessions/${id}`, ["sessions"]);
  return info.data ? <Known info={info.data} /> : <Unknown info={info} />;
}

function Unknown({ info }: { readonly info: ReturnType<typeof useList<Info>> }) {
  return (
    <>
      <Heading title="Conversation" />
      <Shown read={info}>{() => null}</Shown>
      {info.error && (
        <p>
          <a href={hrefOf("sessions")}>All sessions</a>
        </p>
      )}
    </>
  );
}

function Known({ info }: { readonly info: Info }) {
  const { api, route } = useServices();
  const device = useDevice();
  const mayOperate = useMayOperate();
  const shown = useTranscript(info.id);
  const place = { name: info.session_id, device: info.device?.id ?? null };
  const turns = useLiveTurns(place, shown.transcript);
  const chat = useChat(info.session_id, shown.transcript?.messages ?? [], shown.read.refresh);
  const isMine = device !== undefined && info.device?.id === device.id;
  const isFresh = route.value.query["from"] === "chat";
  return (
    <>
      <Heading title={info.session_id} keepsFocus={isFresh}>
        {mayOperate && <Commands info={info} canStop={!isMine && (info.running || turns.length > 0)} />}
      </Heading>
      <p class="hint">
        <Owner device={info.device} />
      </p>
      <Shown read={shown.read}>
        {() => (
          <Thread shown={shown} turns={turns} sent={chat.sent} onForget={chat.forget}>
            {isMine && mayOperate ? (
              <ChatBox
                chat={chat}
                autoFocus={isFresh}
                draft={info.session_id}
                isBusy={info.running || turns.length > 0}
                onStop={() => api.call(path`/api/sessions/${info.id}/cancel`, { method: "POST" })}
              />
            ) : (
              <p class="hint">Only the device that a conversation is of can go on with it.</p>
            )}
          </Thread>
        )}
      </Shown>
    </>
  );
}

/** The device that writes stops what runs in the message box. */
function Commands({ info, canStop }: { readonly info: Info; readonly canStop: boolean }) {
  const { api } = useServices();
  const stop = useAction(() => api.call(path`/api/sessions/${info.id}/cancel`, { method: "POST" }));
  const remove = async (): Promise<void> => {
    await api.call(path`/api/sessions/${info.id}`, { method: "DELETE" });
    location.hash = hrefOf("sessions");
  };
  return (
    <>
      <Problem error={stop.error} />
      {canStop && (
        <Button busy={stop.isRunning} onPress={() => void stop.run()}>
          Stop
        </Button>
      )}
      <Confirmed text="Delete" question="Delete this conversation?" act={remove}>
        <p>What runs in it is stopped, and all of it goes from the disk.</p>
      </Confirmed>
    </>
  );
}
