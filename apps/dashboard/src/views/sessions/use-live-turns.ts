import { useEffect, useState } from "preact/hooks";
import { useServices } from "../../services.ts";
import type { Transcript } from "./transcript-pages.ts";
import { grown, isIn, type LiveTurn, type Place, withoutKept } from "./live-turns.ts";

/** @param place Undefined while it is not known. */
export function useLiveTurns(place: Place | undefined, transcript: Transcript | undefined): readonly LiveTurn[] {
  const { live } = useServices();
  const [turns, setTurns] = useState<readonly LiveTurn[]>([]);
  const { name, device } = place ?? {};
  useEffect(() => {
    setTurns([]);
    if (name === undefined) return undefined;
    return live.listen({
      event(event) {
        if (isIn(event, { name, device: device ?? null })) setTurns((turns) => grown(turns, event));
      },
      // Some events may be missing: what was put together of them may be wrong, and is in the transcript once it is done.
      stale: (topics) => topics === undefined && setTurns([]),
    });
  }, [live, name, device]);
  useEffect(() => {
    const kept = new Set(transcript?.messages.map(({ turn_id: id }) => id));
    setTurns((turns) => withoutKept(turns, kept));
  }, [transcript]);
  return turns;
}
