/** The messages of a conversation: what is kept, what was just sent, what is being answered. */
import { useEffect, useRef } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { Prose } from "../../parts/name.tsx";
import { Problem } from "../../parts/problem.tsx";
import type { LiveTurn } from "./live-turns.ts";
import { Answering, Bubble, Message } from "./message.tsx";
import type { Sent } from "./sent.ts";
import type { ShownTranscript } from "./use-transcript.ts";
import { TurnApprovals } from "./turn-approvals.tsx";

interface Props {
  readonly shown?: ShownTranscript;
  readonly turns: readonly LiveTurn[];
  readonly sent: Sent | undefined;
  readonly onForget: () => void;
}

export function Thread({ shown, turns, sent, onForget }: Props) {
  const messages = shown?.transcript?.messages ?? [];
  const end = useRef<HTMLDivElement>(null);
  const length = messages.length + JSON.stringify(turns).length;
  useEffect(() => followEnd(end.current), [length, sent]);
  return (
    <>
      {(shown?.transcript?.before ?? null) !== null && (
        <p class="earlier">
          <Button busy={shown?.earlier.isRunning ?? false} onPress={() => void shown?.earlier.run()}>
            Show earlier messages
          </Button>
        </p>
      )}
      <Problem error={shown?.earlier.error} />
      <ol class="thread" aria-label="Messages">
        {messages.map((message, index) => (
          <Message key={`${message.turn_id} ${index}`} message={message} />
        ))}
        {sent && (
          <Bubble role="user" aside={sent.isLost ? "no answer came" : "sent"}>
            <Prose>{sent.text}</Prose>
            {sent.isLost && (
              <p class="hint">
                The connection was lost. If this is not in the conversation, send it again.{" "}
                <Button onPress={onForget}>Hide</Button>
              </p>
            )}
          </Bubble>
        )}
        {turns.map((turn) => (
          <Answering key={turn.id} turn={turn} />
        ))}
      </ol>
      <TurnApprovals turns={turns} />
      <div ref={end} />
    </>
  );
}

/** Who reads further up is left there. */
function followEnd(end: HTMLElement | null): void {
  const { scrollHeight, clientHeight, scrollTop } = document.documentElement;
  const isNearEnd = scrollHeight - clientHeight - scrollTop < 240;
  if (isNearEnd) end?.scrollIntoView({ block: "nearest" });
}
