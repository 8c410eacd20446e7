import { useEffect } from "preact/hooks";
import { useServices } from "../../services.ts";
import { useCell } from "../../state/cell.ts";
import { type LiveTurn, type Place, withoutKept } from "./live-turns.ts";
import type { Transcript } from "./transcript-pages.ts";

export function useLiveTurns(place: Place, transcript: Transcript | undefined): readonly LiveTurn[] {
  const { turns } = useServices();
  useCell(turns.cell);
  const kept = new Set(transcript?.messages.map(({ turn_id: id }) => id));
  useEffect(() => turns.forget(place, kept), [transcript]);
  return withoutKept(turns.of(place), kept);
}
