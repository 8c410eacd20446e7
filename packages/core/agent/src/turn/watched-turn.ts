/** A turn as others see it: observers are told its beginning and its end, and every line of the log in between names it. */
import { type Instruments, within } from "@svc/kernel";
import type { Meter } from "../money/meter.ts";
import type { TurnResult } from "../types.ts";
import { watched } from "../observe/watched.ts";
import type { ActiveTurn } from "./active-turns.ts";

export interface WatchedTurn {
  readonly instruments: Instruments;
  readonly turn: ActiveTurn;
  /** Name of the model that answers. */
  readonly model: string;
  readonly sessionId: string;
  readonly meter: Meter;
  readonly redact: (text: string) => string;
}

export function watchedTurn(of: WatchedTurn, run: () => Promise<TurnResult>): Promise<TurnResult> {
  return within({ turn: of.turn.id }, of.instruments.isWatched ? () => toldTurn(of, run) : run);
}

function toldTurn(of: WatchedTurn, run: () => Promise<TurnResult>): Promise<TurnResult> {
  const { instruments, turn, model, sessionId, meter, redact } = of;
  const { id: turnId, agent, request } = turn;
  const work = instruments.begin("turn", { turnId, sessionId, agent, model, channel: request.channel });
  const toldRun = async (): Promise<TurnResult> => {
    work.content("input", redact(request.text));
    const result = await run();
    work.content("output", redact(result.response));
    return result;
  };
  return watched(work, work.wantsContent ? toldRun : run, (error) => ({ error, ...meter.since() }));
}
