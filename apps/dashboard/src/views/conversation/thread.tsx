/** The messages of a conversation: stored ones, and the running turn. */
import type { ApprovalPage, SessionMessage } from "@svc/api";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Problem } from "../../components/shown.tsx";
import { useMayOperate, useServices } from "../../services.ts";
import { useList } from "../../state/use-reader.ts";
import { t } from "../../texts/texts.ts";
import { ApprovalCard } from "../approvals/approval-card.tsx";
import type { LiveTurn } from "./live-turns.ts";
import { type FollowUp, type TranscriptView, turnsOf } from "./transcript.ts";
import { Turn } from "./turn.tsx";

interface ThreadProps {
  readonly conversation: string;
  readonly shown: TranscriptView;
  readonly turns: readonly LiveTurn[];
  /** Stays visible below the messages. */
  readonly children: ComponentChildren;
}

const NONE: readonly SessionMessage[] = [];
const NO_FOLLOW_UPS: readonly FollowUp[] = [];

export function Thread({ conversation, shown, turns, children }: ThreadProps) {
  const mayOperate = useMayOperate();
  const { query } = useServices().route.value;
  const messages = shown.transcript?.messages ?? NONE;
  const newest = shown.transcript?.newest ?? null;
  const first = messages[0] && `${messages[0].turn_id} ${messages[0].role} ${messages[0].text}`;
  const { isAway, toEnd } = useFollow(first, query["turn"] !== undefined);
  const stored = useMemo(() => turnsOf(messages), [messages]);
  const last = stored.at(-1)?.id;
  const isOwn = stored.at(-1)?.messages[0]?.role === "user";
  // After sending, show the answer.
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
        {stored.map((turn) => (
          <Turn
            key={`${turn.id} ${turn.messages[0]?.replaced}`}
            turn={turn}
            live={turns.find(({ id }) => id === turn.id)}
            ways={mayOperate && newest?.turn_id === turn.id ? newest.can : NO_FOLLOW_UPS}
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

/** Distance at which the reader counts as at the end. */
const NEAR_PX = 96;

interface Follow {
  /** The reader has scrolled up. */
  readonly isAway: boolean;
  toEnd(): void;
}

/**
 * Keeps the end of a conversation visible unless the reader has scrolled up.
 * @param first Start of the list: when it changes, older messages were added above and the reader stays.
 * @param startsAway The view was opened at an older message.
 */
function useFollow(first: string | undefined, startsAway = false): Follow {
  const isFollowing = useRef(!startsAway);
  const [isAway, setAway] = useState(false);
  const toEnd = (): void => {
    isFollowing.current = true;
    setAway(false);
    scrollToEnd();
  };
  useEffect(() => {
    let seenHeight = document.documentElement.scrollHeight;
    const look = (): void => {
      const page = document.documentElement;
      // A list that grew moves the end away from a reader who did not move.
      if (page.scrollHeight !== seenHeight && isFollowing.current) {
        seenHeight = page.scrollHeight;
        return scrollToEnd();
      }
      seenHeight = page.scrollHeight;
      isFollowing.current = isAtEnd();
      setAway(!isFollowing.current);
    };
    const grow = new ResizeObserver(() => {
      seenHeight = document.documentElement.scrollHeight;
      if (isFollowing.current) scrollToEnd();
      else setAway(!isAtEnd());
    });
    // Messages, approvals and the message box: each can grow and move the end.
    const main = document.getElementById("main");
    for (const one of [document.body, main]) if (one) grow.observe(one);
    window.addEventListener("scroll", look, { passive: true });
    return () => {
      grow.disconnect();
      window.removeEventListener("scroll", look);
    };
  }, []);
  const height = useRef(0);
  useLayoutEffect(() => {
    const page = document.documentElement;
    if (first !== undefined && height.current > 0 && !isFollowing.current) {
      page.scrollTop += page.scrollHeight - height.current;
    }
  }, [first]);
  useLayoutEffect(() => {
    // This forces a layout, so not for each delta while the end is followed.
    if (!isFollowing.current) height.current = document.documentElement.scrollHeight;
  });
  return { isAway, toEnd };
}

function scrollToEnd(): void {
  const page = document.documentElement;
  page.scrollTop = page.scrollHeight;
}

function isAtEnd(): boolean {
  const { scrollHeight, clientHeight, scrollTop } = document.documentElement;
  return scrollHeight - clientHeight - scrollTop < NEAR_PX;
}

/** Pending approvals of running turns. */
function TurnApprovals({ ids }: { readonly ids: readonly string[] }) {
  const mayOperate = useMayOperate();
  return mayOperate && ids.length > 0 ? <OfTurns ids={ids} /> : null;
}

function OfTurns({ ids }: { readonly ids: readonly string[] }) {
  const query = { status: "waiting", limit: 50 };
  const { data } = useList<ApprovalPage>("/api/approvals", ["approvals"], query);
  const asked = data?.approvals.filter(({ run_id: id }) => ids.includes(id)) ?? [];
  return (
    <>
      {asked.map((approval) => (
        <ApprovalCard key={approval.n} approval={approval} />
      ))}
    </>
  );
}
