/** The messages of a conversation: stored ones, and the running turn. */
import type { ComponentChildren } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { Problem } from "../../parts/problem.tsx";
import { useServices } from "../../services.ts";
import { useMayOperate } from "../../session/use-device.ts";
import type { Message } from "../../api/shapes.ts";
import type { LiveTurn } from "./live-turns.ts";
import { type FollowUp, turnsOf } from "./transcript-pages.ts";
import { Turn } from "./turn.tsx";
import { TurnApprovals } from "./turn-approvals.tsx";
import { useFollow } from "./use-follow.ts";
import type { ShownTranscript } from "./use-transcript.ts";
import { t } from "../../texts/texts.ts";

interface Props {
  readonly conversation: string;
  readonly shown: ShownTranscript;
  readonly turns: readonly LiveTurn[];
  /** Stays in sight below the messages. */
  readonly children: ComponentChildren;
}

const NONE: readonly Message[] = [];
const NO_WAYS: readonly FollowUp[] = [];

export function Thread({ conversation, shown, turns, children }: Props) {
  const mayOperate = useMayOperate();
  const { query } = useServices().route.value;
  const messages = shown.transcript?.messages ?? NONE;
  const newest = shown.transcript?.newest ?? null;
  const first = messages[0] && `${messages[0].turn_id} ${messages[0].role} ${messages[0].text}`;
  const { isAway, toEnd } = useFollow(first, query["turn"] !== undefined);
  const kept = useMemo(() => turnsOf(messages), [messages]);
  const last = kept.at(-1)?.id;
  const isOwn = kept.at(-1)?.messages[0]?.role === "user";
  // Who sends wants to see what comes of it.
  useEffect(() => {
    if (isOwn && shown.hasSent.current) toEnd();
    shown.hasSent.current = false;
  }, [last]);
  const running = messages.filter(({ state }) => state === "running").map(({ turn_id: id }) => id);
  return (
    <>
      {(shown.transcript?.before ?? null) !== null && (
        <p class="earlier">
          <Button busy={shown.earlier.isRunning} onPress={() => void shown.earlier.run()}>
            {t("sessions.show-earlier-messages")}
          </Button>
        </p>
      )}
      <Problem error={shown.earlier.error} />
      <ol class="thread" aria-label={t("common.messages")}>
        {kept.map((turn) => (
          <Turn
            key={`${turn.id} ${turn.messages[0]?.replaced}`}
            turn={turn}
            live={turns.find(({ id }) => id === turn.id)}
            ways={mayOperate && newest?.turn_id === turn.id ? newest.can : NO_WAYS}
            conversation={conversation}
            onSent={shown.sent}
          />
        ))}
      </ol>
      <TurnApprovals ids={[...new Set(running)]} />
      <div class="composer">
        {isAway && (
          <p class="to-latest">
            <Button onPress={toEnd}>{t("sessions.jump-to-latest")}</Button>
          </p>
        )}
        {children}
      </div>
    </>
  );
}
