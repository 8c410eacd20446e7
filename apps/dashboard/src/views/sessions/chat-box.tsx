import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { Problem } from "../../parts/problem.tsx";
import { useServices } from "../../services.ts";
import { useCell } from "../../state/cell.ts";
import { remember, remembered } from "../../state/tab-memory.ts";
import { useAction } from "../../state/use-action.ts";
import type { Chat } from "./use-chat.ts";

interface Props {
  readonly chat: Chat;
  readonly autoFocus: boolean;
  /** Under which the draft is remembered. */
  readonly draft: string;
  /** A turn runs that this tab may have nothing to do with. */
  readonly isBusy: boolean;
  /** Calls off what runs. */
  readonly onStop: () => Promise<unknown>;
}

/** Enter sends, Shift and Enter begins a line. */
export function ChatBox({ chat, autoFocus, draft, isBusy, onStop }: Props) {
  const state = useCell(useServices().live.state);
  const [text, show] = useState(() => remembered(`draft.${draft}`) ?? "");
  // At once: the page may be left before it is drawn.
  const setText = (next: string): void => {
    remember(`draft.${draft}`, next);
    show(next);
  };
  const box = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  const isAnswering = isBusy || (chat.sent !== undefined && !chat.sent.isLost);
  const stop = useAction(onStop);
  useLayoutEffect(() => {
    if (box.current) fit(box.current);
  }, [text]);
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
      <Problem error={stop.error} what="It could not be stopped." />
      <label for={id}>Message</label>
      <div class="chat-line">
        <textarea
          ref={box}
          id={id}
          rows={1}
          value={text}
          aria-describedby={`${id}-hint`}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
          onKeyDown={press}
        />
        {isAnswering ? (
          <Button busy={stop.isRunning} onPress={() => void stop.run()}>
            Stop
          </Button>
        ) : (
          <button type="submit" class="button main" aria-busy={isWanted}>
            Send
          </button>
        )}
      </div>
      <p class="hint" id={`${id}-hint`}>
        {isWanted ? "It is sent as soon as there is a connection." : "Enter sends, Shift and Enter begins a new line."}
      </p>
    </form>
  );
}

/** As high as its text; the style says how high at most. */
function fit(box: HTMLTextAreaElement): void {
  box.style.height = "auto";
  box.style.height = `${box.scrollHeight + box.offsetHeight - box.clientHeight}px`;
}
