/** A conversation that is not there yet: it begins with the first message, and then has a place of its own. */
import { useState } from "preact/hooks";
import type { Conversation } from "../../api/shapes.ts";
import { Heading } from "../../parts/heading.tsx";
import { hrefOf } from "../../route/route.ts";
import { useServices } from "../../services.ts";
import { useDevice } from "../../session/use-device.ts";
import { ChatBox } from "./chat-box.tsx";
import { Thread } from "./thread.tsx";
import { useChat } from "./use-chat.ts";
import { useLiveTurns } from "./use-live-turns.ts";

export function NewChat() {
  const { api } = useServices();
  const device = useDevice();
  const [name] = useState(newName);
  const turns = useLiveTurns({ name, device: device?.id ?? null }, undefined);
  const chat = useChat(name, [], async () => {
    const { sessions } = await api.get<{ readonly sessions: readonly Conversation[] }>("/api/sessions", { limit: 50 });
    const own = sessions.find(({ session_id, device: owner }) => session_id === name && owner?.id === device?.id);
    if (own) location.replace(hrefOf("sessions", own.id, { from: "chat" }));
  });
  return (
    <>
      <Heading title="New chat" keepsFocus />
      <Thread turns={turns} sent={chat.sent} onForget={chat.forget} />
      <ChatBox chat={chat} autoFocus />
    </>
  );
}

/** `page-2026-11-21-k3f9`: a name that says when, and is nobody else's. */
function newName(): string {
  const random = Array.from(crypto.getRandomValues(new Uint8Array(4)), (byte) => (byte % 36).toString(36)).join("");
  return `page-${new Date().toISOString().slice(0, 10)}-${random}`;
}
