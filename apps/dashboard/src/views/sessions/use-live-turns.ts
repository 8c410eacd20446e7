import { useEffect } from "preact/hooks";
import { useServices } from "../../services.ts";
import { useCell } from "../../state/cell.ts";
import type { LiveTurn } from "./live-turns.ts";
import type { Transcript } from "./transcript-pages.ts";

export function useLiveTurns(conversation: string, transcript: Transcript | undefined): readonly LiveTurn[] {
  const { turns } = useServices();
  useCell(turns.changes);
  useEffect(() => {
    if (transcript) turns.settle(conversation, transcript.messages);
  }, [transcript]);
  return turns.of(conversation);
}
