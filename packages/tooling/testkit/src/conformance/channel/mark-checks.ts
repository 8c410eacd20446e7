/** Marks on what people wrote: the best that can be done, never in the way. */
import type { Check } from "../../check.ts";
import { endsSoundly, endsWhenAborted, NEVER } from "./judge.ts";
import { type Bench, withChannel } from "./open.ts";

const MOODS = [
  "takes",
  { refuses: 400 },
  { refuses: 401 },
  { refuses: 404 },
  { rateLimits: 7 },
  { refuses: 503 },
  { babbles: "<html>" },
  "resets",
] as const;

/** Also such as no message of the platform has. */
const IDS = ["message-1", "1", "", "../1", "x".repeat(600)];

export const markChecks = (bench: Bench): Check[] => [
  {
    name: "a mark is made and taken back, or that fails with a code, and ends at once when it is aborted",
    run: () =>
      withChannel(bench, async (opened) => {
        const { readMarks } = opened.channel;
        if (readMarks === undefined) return;
        const { conversation } = opened.message();
        const signs = {
          "readMarks.mark": (id: string, signal: AbortSignal) => readMarks.mark(conversation, id, signal),
          "readMarks.clear": async (id: string, signal: AbortSignal) => readMarks.clear?.(conversation, id, signal),
        };
        for (const [what, give] of Object.entries(signs)) {
          for (const mood of MOODS) {
            opened.platform.mood = mood;
            for (const id of IDS) await endsSoundly(opened, what, () => give(id, NEVER), bench.promptMs);
          }
          await endsWhenAborted(opened, what, (signal) => give("message-1", signal), bench.promptMs);
        }
      }),
  },
];
