/** A long connection in trouble: stopped at any moment, a platform that is out of order, credentials that are revoked. */
import { SvcError } from "@svc/contract";
import { getActiveResourcesInfo } from "node:process";
import { type Check, demand, outcomeOf } from "../../check.ts";
import type { PlatformMood } from "../../platforms/mood.ts";
import { type ArrivalService, demandTriedAgain, withService } from "./arrival-service.ts";
import type { Process } from "./arrival-process.ts";
import { LATER } from "./judge.ts";
import type { Bench } from "./open.ts";
import { afterAWhile, until } from "./patience.ts";

/** More than any reconnection needs at once; what tries again without a pause makes thousands. */
const MOST_REQUESTS = 25;

const OUT_OF_ORDER: readonly PlatformMood[] = [
  { refuses: 503 },
  "resets",
  { rateLimits: 1 },
  { babbles: "<html>no</html>" },
  { babbles: "" },
  { babbles: '{"a":' },
  { babbles: "[null]" },
  { babbles: '{"ok":true}' },
];

export function arrivalTroubleChecks(bench: Bench): Check[] {
  const { promptMs } = bench;
  const check = (name: string, run: (service: ArrivalService) => Promise<void>): Check => ({
    name,
    run: () => withService(bench, run),
  });
  /** The connection ends, and the platform is not what it was when the channel comes back. */
  const meets = async (service: ArrivalService, process: Process, mood: PlatformMood): Promise<void> => {
    const { platform, arrivals, clock } = service;
    // It waits for the next one again.
    await afterAWhile();
    const requests = platform.requests.length;
    platform.mood = mood;
    await arrivals.disconnect(platform as never);
    const isMet = () => platform.requests.length > requests || process.over !== undefined;
    demand(await until(clock, isMet, promptMs * 4), "a lost connection is not noticed: nobody asks, and run goes on");
  };
  return [
    check("run ends at once when it is stopped, whatever it is at, and leaves nothing behind", async (service) => {
      const { platform, clock, inbox } = service;
      const timers = timersAlive();
      await (await service.connected()).stop();
      const [requests, offers] = [platform.requests.length, inbox.offers];
      const expected = service.arrivals.losesWhileAway === undefined ? await service.write(2) : [];
      await afterAWhile(clock);
      demand(inbox.offers === offers, "something is received after run has ended");
      demand(platform.requests.length === requests, "the platform is asked after run has ended");
      demand(clock.waiting === 0, "a timer goes on after run has ended");
      await stoppedWhile(service, "hangs");
      await stoppedWhile(service, "resets");
      platform.mood = "takes";
      const { opened, stop } = await service.start();
      await stop();
      const before = AbortSignal.abort(new Error("called off"));
      const early = await outcomeOf(async () => opened.made.run?.(before), promptMs);
      demand(early.kind !== "hung", "run begins although it was stopped");
      demand(
        await until(clock, () => timersAlive() <= timers, promptMs * 4),
        "a timer of Node's goes on after run has ended",
      );
      if (expected.length > 0) await service.receives(await service.start(), expected);
    }),
    check(
      "a platform that is out of order is tried again, not without a pause, and goes on when it is back",
      async (service) => {
        const process = await service.connected();
        for (const mood of OUT_OF_ORDER) {
          await meets(service, process, mood);
          const requests = service.platform.requests.length;
          await afterAWhile();
          const more = service.platform.requests.length - requests;
          demand(more <= MOST_REQUESTS, `the platform is asked ${more} times while the clock stands still`);
          service.platform.mood = "takes";
          await service.greet(process);
          demandTriedAgain(process);
        }
      },
    ),
    check("credentials that are refused on the way end run for good", async (service) => {
      const process = await service.connected();
      await meets(service, process, { refuses: 401 });
      const isOver = await until(service.clock, () => process.over !== undefined, promptMs * 4);
      demand(isOver, "run goes on with refused credentials");
      const last = process.failures.at(-1);
      const isFinal = last instanceof SvcError && last.code === "FEATURE_FAILED";
      demand(isFinal, `run is over for another reason: ${process.over}`);
      demandTriedAgain(process, ["FEATURE_FAILED", ...LATER]);
    }),
  ];
}

/** Stops a process as soon as the platform was asked, or run has failed. */
async function stoppedWhile({ platform, clock, start, bench }: ArrivalService, mood: PlatformMood): Promise<void> {
  platform.mood = mood;
  const requests = platform.requests.length;
  const process = await start();
  const isUnderWay = () => platform.requests.length > requests || process.failures.length > 0;
  demand(await until(clock, isUnderWay, bench.promptMs), "the platform is not asked");
  await process.stop();
}

/** Those that keep a process from ending. */
const timersAlive = (): number => getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
