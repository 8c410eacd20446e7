/** A press on a button that comes in by `run`. */
import { type Check, demand } from "../../check.ts";
import { withService } from "./arrival-service.ts";
import { flawOf } from "./inbound.ts";
import { NEVER, worksOut } from "./judge.ts";
import type { Bench } from "./open.ts";
import { afterAWhile, until } from "./patience.ts";
import { demandAnswer, PROMPT, WORDS } from "./prompt-checks.ts";

export const arrivalPressChecks = (bench: Bench): Check[] => [
  {
    name: "a press on a button is received: which question it answers, and whether yes; a stranger's is not",
    run: () =>
      withService(bench, async (service) => {
        const { platform, arrivals, inbox, clock } = service;
        const process = await service.connected();
        const { opened } = process;
        const { prompts } = opened.channel;
        if (prompts === undefined) return;
        const { press, person, stranger } = arrivals;
        demand(press !== undefined, "the channel has `prompts`, and its tests hand in no `arrivals.press`");
        const { conversation } = inbox.kept.at(-1)!;
        for (const approved of [true, false]) {
          const before = inbox.kept.length;
          const message = { ...opened.message(WORDS), conversation };
          await worksOut(opened, "post", () => prompts.post(message, PROMPT, NEVER), bench.promptMs);
          const pressed = { approved, atMs: clock.now() };
          await press(platform as never, { ...pressed, id: `press-${approved}-1`, from: stranger });
          await press(platform as never, { ...pressed, id: `press-${approved}-2`, from: person });
          const isThere = () => inbox.kept.length > before || process.over !== undefined;
          demand(await until(clock, isThere, bench.promptMs * 4), "a press is not received");
          await afterAWhile();
          const received = inbox.kept.slice(before);
          demand(
            received.length === 1,
            `${received.length} presses are received instead of 1: a stranger's is not heard`,
          );
          const flaw = flawOf({ inbound: received }, opened.id);
          demand(flaw === undefined, `what is received is not sound: ${flaw}`);
          demandAnswer(received[0], approved);
        }
      }),
  },
];
