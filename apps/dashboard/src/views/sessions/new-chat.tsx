/** A conversation that is not there yet: it begins with the first message, and then has a place of its own. */
import { useEffect, useState } from "preact/hooks";
import { path } from "../../api/client.ts";
import type { Conversation } from "../../api/shapes.ts";
import { Heading } from "../../parts/heading.tsx";
import { hrefOf } from "../../route/route.ts";
import { useServices } from "../../services.ts";
import { useDevice } from "../../session/use-device.ts";
import { remember, remembered } from "../../state/tab-memory.ts";
import { ChatBox } from "./chat-box.tsx";
import { Thread } from "./thread.tsx";
import { useChat } from "./use-chat.ts";
import { useLiveTurns } from "./use-live-turns.ts";

export function NewChat() {
  const { api } = useServices();
  const device = useDevice();
  // A reload comes back to it; who leaves and comes again begins anew.
  const [name] = useState(() => remembered(NEW_CHAT) ?? newName());
  useEffect(() => {
    remember(NEW_CHAT, name);
    return () => remember(NEW_CHAT, undefined);
  }, []);
  const turns = useLiveTurns({ name, device: device?.id ?? null }, undefined);
  const find = async (): Promise<Conversation | undefined> => {
    const { sessions } = await api.get<{ readonly sessions: readonly Conversation[] }>("/api/sessions", { limit: 50 });
    return sessions.find(({ session_id, device: owner }) => session_id === name && owner?.id === device?.id);
  };
  const goThere = async (): Promise<void> => {
    const own = await find();
    if (own) location.replace(hrefOf("sessions", own.id, { from: "chat" }));
  };
  const chat = useChat(name, [], goThere);
  const stop = async (): Promise<void> => {
    const own = await find();
    if (own) await api.call(path`/api/sessions/${own.id}/cancel`, { method: "POST" });
  };
  // After a reload no request waits for the answer: the conversation has it when the turn is over.
  const isOver = chat.sent?.isLost === true && turns.length === 0;
  useEffect(() => {
    if (isOver) void goThere().catch(() => {});
  }, [isOver]);
  return (
    <>
      <Heading title="New chat" keepsFocus />
      <Thread turns={turns} sent={chat.sent} onForget={chat.forget}>
        <ChatBox chat={chat} autoFocus draft="new" isBusy={turns.length > 0} onStop={stop} />
      </Thread>
    </>
  );
}

/** Name of what a tab remembers: the conversation that is not there yet. */
const NEW_CHAT = "new-chat";

/** `page-2026-11-21-k3f9`: a name that says when, and is nobody else's. */
function newName(): string {
  const random = Array.from(crypto.getRandomValues(new Uint8Array(4)), (byte) => (byte % 36).toString(36)).join("");
  return `page-${new Date().toISOString().slice(0, 10)}-${random}`;
}
