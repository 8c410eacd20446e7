/** The messages of a conversation: what is kept, what was just sent, what is being answered. */
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { Prose } from "../../parts/name.tsx";
import { Problem } from "../../parts/problem.tsx";
import { useServices } from "../../services.ts";
import { useCell } from "../../state/cell.ts";
import type { LiveTurn } from "./live-turns.ts";
import { Answering, Bubble, Message } from "./message.tsx";
import type { Sent } from "./sent.ts";
import { useFollow } from "./use-follow.ts";
import type { ShownTranscript } from "./use-transcript.ts";
import { TurnApprovals } from "./turn-approvals.tsx";

interface Props {
  readonly shown?: ShownTranscript;
  readonly turns: readonly LiveTurn[];
  readonly sent: Sent | undefined;
  readonly onForget: () => void;
  /** Stays in sight below the messages. */
  readonly children: ComponentChildren;
}

export function Thread({ shown, turns, sent, onForget, children }: Props) {
  const messages = shown?.transcript?.messages ?? [];
  const { isAway, toEnd } = useFollow(messages[0] && `${messages[0].turn_id} ${messages[0].at}`);
  // What runs will tell; without a connection nothing does.
  const isUnsure = useCell(useServices().live.state) !== "open" || turns.length === 0;
  // Who sends wants to see what comes of it.
  useEffect(() => {
    if (sent !== undefined) toEnd();
  }, [sent]);
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
          <Bubble role="user" aside={sent.isLost && isUnsure ? "no answer came" : "sent"}>
            <Prose>{sent.text}</Prose>
            {sent.isLost && isUnsure && (
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
      <div class="composer">
        {isAway && (
          <p class="to-latest">
            <Button onPress={toEnd}>Jump to latest</Button>
          </p>
        )}
        {children}
      </div>
    </>
  );
}
