import { useEffect, useId, useRef, useState } from "preact/hooks";
import { Problem } from "../../parts/problem.tsx";
import { useServices } from "../../services.ts";
import { useCell } from "../../state/cell.ts";
import type { Chat } from "./use-chat.ts";

interface Props {
  readonly chat: Chat;
  readonly autoFocus: boolean;
}

/** Enter sends, Shift and Enter begins a line. */
export function ChatBox({ chat, autoFocus }: Props) {
  const state = useCell(useServices().live.state);
  const [text, setText] = useState("");
  const box = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  const isAnswering = chat.sent !== undefined && !chat.sent.isLost;
  // Somebody who types faster than we connect has said "send" all the same.
  const [isWanted, setWanted] = useState(false);
  useEffect(() => {
    if (autoFocus) box.current?.focus();
  }, []);
  const send = (): void => {
    const isBlank = text.trim() === "";
    if (isAnswering) return;
    const isSent = !isBlank && chat.send(text);
    setWanted(!isSent && !isBlank);
    if (isSent) setText("");
  };
  useEffect(() => {
    if (isWanted && state === "open") send();
  }, [isWanted, state]);
  const submit = (event: Event): void => {
    event.preventDefault();
    send();
  };
  const press = (event: KeyboardEvent): void => {
    // In the middle of composing a character, Enter is the input method's.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    send();
  };
  return (
    <form class="chat-box" onSubmit={submit}>
      <Problem error={chat.error} what="No answer." />
      <label for={id}>Message</label>
      <div class="chat-line">
        <textarea
          ref={box}
          id={id}
          rows={2}
          value={text}
          aria-describedby={`${id}-hint`}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
          onKeyDown={press}
        />
        <button type="submit" class="button main" disabled={isAnswering} aria-busy={isWanted}>
          Send
        </button>
      </div>
      <p class="hint" id={`${id}-hint`}>
        {isWanted ? "It is sent as soon as there is a connection." : "Enter sends, Shift and Enter begins a new line."}
      </p>
    </form>
  );
}
