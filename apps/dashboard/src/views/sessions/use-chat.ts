/** Sends a message by the live connection and waits for its answer. */
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../../api/api-error.ts";
import type { Message } from "../../api/shapes.ts";
import { useServices } from "../../services.ts";
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
  const [sent, setSent] = useState<Sent>();
  const [error, setError] = useState<ApiError>();
  const answered = useRef(onAnswered);
  answered.current = onAnswered;
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
    sent: sent && isKept(sent, messages) ? undefined : sent,
    error,
    send(text) {
      if (!live.send({ type: "message", content: text, session_id: session })) return false;
      setError(undefined);
      setSent({ text, after: messages.at(-1)?.turn_id, isLost: false });
      return true;
    },
    forget: () => setSent(undefined),
  };
}
