/** Sends a message by the live connection and waits for its answer. */
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../../api/api-error.ts";
import type { Message } from "../../api/shapes.ts";
import { useServices } from "../../services.ts";
import { remember, remembered } from "../../state/tab-memory.ts";
import { isKept, type Sent } from "./sent.ts";

export interface Chat {
  readonly sent: Sent | undefined;
  readonly error: ApiError | undefined;
  /** False: there is no connection. */
  send(text: string): boolean;
  forget(): void;
}

/** @param onAnswered Resolves when the conversation was read again: until then the message is shown as sent. */
export function useChat(session: string, messages: readonly Message[], onAnswered: () => Promise<void>): Chat {
  const { live } = useServices();
  const [sent, setSent] = useState<Sent | undefined>(() => sentBefore(session));
  const [error, setError] = useState<ApiError>();
  const answered = useRef(onAnswered);
  answered.current = onAnswered;
  const isKeptNow = sent !== undefined && isKept(sent, messages);
  useEffect(
    () => remember(sentName(session), isKeptNow || !sent ? undefined : JSON.stringify(sent)),
    [sent, isKeptNow],
  );
  useEffect(() => {
    const endFrames = live.listen({
      chat(frame) {
        if (frame.session_id !== session) return;
        if (frame.type === "reply") void answered.current().then(() => setSent(undefined));
        else {
          setSent(undefined);
          setError(new ApiError(frame.code, frame.error, 0, { ...frame }));
        }
      },
    });
    const endState = live.state.follow(() => {
      if (live.state.value !== "open") setSent((sent) => sent && { ...sent, isLost: true });
    });
    return () => {
      endFrames();
      endState();
    };
  }, [live, session]);
  return {
    sent: isKeptNow ? undefined : sent,
    error,
    send(text) {
      if (!live.send({ type: "message", content: text, session_id: session })) return false;
      setError(undefined);
      const next: Sent = { text, after: messages.at(-1)?.turn_id, isLost: false };
      // At once: the page may be reloaded before it is drawn.
      remember(sentName(session), JSON.stringify(next));
      setSent(next);
      return true;
    },
    forget: () => setSent(undefined),
  };
}

const sentName = (session: string): string => `sent.${session}`;

/** What was sent before a reload; its answer, if one comes, is in the conversation. */
function sentBefore(session: string): Sent | undefined {
  const text = remembered(sentName(session));
  return text === undefined ? undefined : { ...(JSON.parse(text) as Sent), isLost: true };
}
