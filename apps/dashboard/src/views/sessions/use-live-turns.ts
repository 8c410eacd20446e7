import { useEffect, useState } from "preact/hooks";
import { useServices } from "../../services.ts";
import { grown, isIn, type LiveTurn, type Place, withoutKept } from "./live-turns.ts";
import type { Transcript } from "./transcript-pages.ts";

export function useLiveTurns({ name, device }: Place, transcript: Transcript | undefined): readonly LiveTurn[] {
  const { live } = useServices();
  const [turns, setTurns] = useState<readonly LiveTurn[]>([]);
  const kept = new Set(transcript?.messages.map(({ turn_id: id }) => id));
  useEffect(() => {
    setTurns([]);
    return live.listen({
      event(event) {
        // What was put together of pieces has a hole now, or belongs to a process that is gone.
        if (event.type === "events-dropped") setTurns([]);
        if (isIn(event, { name, device })) setTurns((turns) => grown(turns, event));
      },
    });
  }, [live, name, device]);
  useEffect(() => setTurns((turns) => withoutKept(turns, kept)), [transcript]);
  return withoutKept(turns, kept);
}
