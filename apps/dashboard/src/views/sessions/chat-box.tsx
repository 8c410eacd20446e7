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
  const canSend = state === "open" && (chat.sent === undefined || chat.sent.isLost);
  useEffect(() => {
    if (autoFocus) box.current?.focus();
  }, []);
  const send = (): void => {
    if (canSend && text.trim() !== "" && chat.send(text)) setText("");
  };
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
        <button type="submit" class="button main" disabled={!canSend}>
          Send
        </button>
      </div>
      <p class="hint" id={`${id}-hint`}>
        {state === "open" ? "Enter sends, Shift and Enter begins a new line." : "Waits for the connection."}
      </p>
    </form>
  );
}
