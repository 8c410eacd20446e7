/** What comes in by `run`: received once, in order, over lost connections, full disks, kills and restarts. */
import { type Check, demand } from "../../check.ts";
import { arrivalPressChecks } from "./arrival-press-checks.ts";
import { type ArrivalService, demandTriedAgain, withService } from "./arrival-service.ts";
import { arrivalTroubleChecks } from "./arrival-trouble-checks.ts";
import { flawOf } from "./inbound.ts";
import { LATER, NEVER, worksOut } from "./judge.ts";
import { type Bench, withChannel } from "./open.ts";
import { afterAWhile, until } from "./patience.ts";

export function arrivalChecks(bench: Bench): Check[] {
  const { arrivals } = bench.subject;
  if (arrivals === undefined) return [undeclared(bench)];
  const losesWhileAway = arrivals.losesWhileAway !== undefined;
  const check = (name: string, run: (service: ArrivalService) => Promise<void>): Check => ({
    name,
    run: () => withService(bench, run),
  });
  return [
    check("what a person writes is received, sound, and can be answered where it came from", async (service) => {
      const { opened } = await service.connected();
      const one = service.inbox.kept.at(-1)!;
      const flaw = flawOf({ inbound: [one] }, opened.id);
      demand(flaw === undefined, `what is received is not sound: ${flaw}`);
      demand(one.id !== undefined, "it has no id, so every repetition is a new message");
      demand(/^\s*Message \d+\.\s*$/.test(one.text), "its text is another");
      const atMs = service.clock.now();
      demand(one.sentAtMs === undefined || Math.abs(one.sentAtMs - atMs) <= DAY_MS, "it was written at another time");
      const reply = { ...opened.message("An answer."), conversation: one.conversation };
      const replyData = one.replyData === undefined ? {} : { replyData: one.replyData };
      const work = () => opened.channel.send({ ...reply, ...replyData }, NEVER);
      await worksOut(opened, "send of an answer", work, bench.promptMs);
      const isSeen = opened.platform.sent.at(-1)?.text.includes("An answer.") === true;
      demand(isSeen, "people do not see the answer");
    }),
    check("messages are received in their order; a stranger's and our own are not", async (service) => {
      const process = await service.connected();
      const expected: number[] = [];
      for (let round = 0; round < 3; round += 1) {
        expected.push(...(await service.write(1)));
        await service.write(2, "stranger");
        await service.write(1, "own");
        expected.push(...(await service.write(10)));
      }
      await service.receives(process, expected);
      await afterAWhile();
      await service.receives(process, expected);
      const { lines } = process.opened.log;
      const times = lines.filter(({ message }) => message.includes("allowlist")).length;
      demand(times === 1, `the log says ${times} times that one sender is not on the allowlist`);
    }),
    check("what can't be kept is handed over again, and what follows stays behind it", async (service) => {
      const process = await service.connected();
      const expected: number[] = [];
      for (const refusals of [["BUSY"], ["STORE_FULL", "BUSY"], []] as const) {
        service.inbox.refuse(...refusals);
        const before = service.inbox.offers;
        expected.push(...(await service.write()));
        await until(service.clock, () => service.inbox.offers > before, bench.promptMs);
        expected.push(...(await service.write(2)));
        await service.receives(process, expected);
      }
      demandTriedAgain(process, [...LATER, "BUSY", "STORE_FULL"]);
    }),
    check(
      "a message is confirmed to the platform once it is on disk: what a kill cuts off comes again",
      async (service) => {
        if (losesWhileAway) return;
        const process = await service.connected();
        const before = service.inbox.offers;
        const refuse = service.inbox.hold();
        const expected = await service.write(2);
        const isOffered = () => service.inbox.offers > before || process.over !== undefined;
        demand(await until(service.clock, isOffered, bench.promptMs), "nothing is received");
        // A channel that confirms too early has done so by then.
        await afterAWhile();
        await service.leaveBehind();
        const stopped = process.stop();
        refuse();
        await stopped;
        await service.receives(await service.start(), expected);
      },
    ),
    check(
      "a connection that ends is made anew: what is written meanwhile is received, and nothing twice",
      async (service) => {
        const process = await service.connected();
        const expected: number[] = [];
        for (const times of [1, 1, 2]) {
          expected.push(...(await service.write()));
          await service.receives(process, expected);
          // It waits for the next one again.
          await afterAWhile();
          for (let time = 0; time < times; time += 1) await service.arrivals.disconnect(service.platform as never);
          if (losesWhileAway) {
            await service.greet(process);
            expected.length = 0;
          }
          expected.push(...(await service.write(2)));
          await service.receives(process, expected);
        }
        await afterAWhile();
        await service.receives(process, expected);
        demandTriedAgain(process);
      },
    ),
    check("the next process goes on where the last one stopped", async (service) => {
      const expected: number[] = [];
      await (await service.connected()).stop();
      for (let restart = 0; restart < 2; restart += 1) {
        if (!losesWhileAway) expected.push(...(await service.write(2)));
        const process = await service.start();
        if (losesWhileAway) {
          await service.greet(process);
          expected.length = 0;
        }
        expected.push(...(await service.write(2)));
        await service.receives(process, expected);
        await afterAWhile();
        await service.receives(process, expected);
        await process.stop();
        demandTriedAgain(process);
      }
    }),
    ...arrivalPressChecks(bench),
    ...arrivalTroubleChecks(bench),
  ];
}

const DAY_MS = 86_400_000;

const undeclared = (bench: Bench): Check => ({
  name: "a channel whose messages come in by its `run` hands in `arrivals`",
  run: () =>
    withChannel(bench, async ({ made: { run, ingress = [] } }) => {
      const isOther = run === undefined || ingress.length > 0 || bench.subject.onlySends === true;
      demand(isOther, "it has `run` and no ingress, and its tests hand in neither `arrivals` nor `onlySends`");
    }),
});
