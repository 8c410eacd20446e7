/** Leads to a message that was searched for, however far up it is. */
import { useEffect, useState } from "preact/hooks";
import { useServices } from "../../services.ts";
import { useCell } from "../../state/cell.ts";
import type { ShownTranscript } from "../sessions/use-transcript.ts";

/** Marked until the reader goes elsewhere. */
const FOUND = "found-message";

export function useJump({ transcript, earlier }: ShownTranscript): void {
  const { turn } = useCell(useServices().route).query;
  const [done, setDone] = useState<string>();
  const isThere = transcript?.messages.some(({ turn_id: id }) => id === turn) ?? false;
  const hasEarlier = (transcript?.before ?? null) !== null;
  useEffect(() => {
    if (turn === undefined || turn === done) return;
    if (isThere) {
      setDone(turn);
      show(turn);
    } else if (hasEarlier && !earlier.isRunning && earlier.error === undefined) void earlier.run();
  }, [turn, done, isThere, hasEarlier, earlier.isRunning, transcript]);
}

function show(turn: string): void {
  for (const old of document.querySelectorAll(`.${FOUND}`)) old.classList.remove(FOUND);
  const messages = document.querySelectorAll<HTMLElement>(`[data-turn="${CSS.escape(turn)}"]`);
  for (const message of messages) message.classList.add(FOUND);
  const scroll = (): void => messages[0]?.scrollIntoView({ block: "center" });
  scroll();
  // A list that grows in this frame scrolls a reader at its end once more, so scroll after that.
  requestAnimationFrame(() => requestAnimationFrame(scroll));
}
