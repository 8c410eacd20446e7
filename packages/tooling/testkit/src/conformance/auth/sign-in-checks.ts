/** A proof signs in the person who enrolled: once, in time, and no one else. */
import type { ClientId, RouteCaller } from "@svc/contract";
import { type Check, demand } from "../../check.ts";
import { ANN, BEN, demandRefused, newWorld, openFixture, STRANGER } from "./open.ts";
import { type AuthBench, TOO_LATE_MS } from "./subject.ts";

const clientOf = (caller: RouteCaller): ClientId | undefined =>
  caller.kind === "device" ? caller.clientId : undefined;

export const signInChecks = (bench: AuthBench): Check[] => {
  const { enrol, signIn, person } = bench.subject;

  /** Ann and Ben have enrolled, each as a device of their own. */
  const twoEnrolled = async (open = true, world = newWorld()) => {
    const fixture = await openFixture(bench, open, world);
    const [ann, ben] = [person(), person()];
    await fixture.through(enrol, ann, ANN);
    await fixture.through(enrol, ben, BEN);
    return { fixture, world, ann, ben };
  };

  return [
    {
      name: "a stranger with a proof is signed in as its device",
      async run() {
        const { fixture, ann, ben } = await twoEnrolled();
        for (const [who, caller] of [
          [ann, ANN],
          [ben, BEN],
          [ann, ANN],
        ] as const) {
          const { signIn: as } = await fixture.through(signIn, who, STRANGER);
          demand(as === clientOf(caller), `signed in as ${String(as)}`);
        }
      },
    },
    {
      name: "nobody is signed in where the section does not ask for it",
      async run() {
        const { fixture, ann } = await twoEnrolled(false);
        const { signIn: as } = await fixture.through(signIn, ann, ANN);
        demand(as === undefined, `signed in as ${String(as)}`);
      },
    },
    {
      name: "where nobody is signed in, a device proves only what is its own",
      async run() {
        const { fixture, ben } = await twoEnrolled(false);
        await demandRefused(() => fixture.through(signIn, ben, ANN), "another device's proof");
      },
    },
    {
      name: "a person who has not enrolled is refused",
      async run() {
        const { fixture } = await twoEnrolled();
        const other = person();
        await (await openFixture(bench, true)).through(enrol, other, ANN);
        await demandRefused(() => fixture.through(signIn, other, STRANGER), "a proof of an unknown person");
      },
    },
    {
      name: "a proof counts once, over a restart too",
      async run() {
        const { fixture, world, ann } = await twoEnrolled();
        const body = signIn.finish.body(ann, await fixture.start(signIn, ann, STRANGER));
        await fixture.send(signIn, body, STRANGER);
        await demandRefused(() => fixture.send(signIn, body, STRANGER), "a proof that was used");
        const restarted = await openFixture(bench, true, world);
        await demandRefused(() => restarted.send(signIn, body, STRANGER), "a proof that was used before a restart");
      },
    },
    {
      name: "of two that come at once with one proof, one is taken",
      async run() {
        const { fixture, ann } = await twoEnrolled();
        const body = signIn.finish.body(ann, await fixture.start(signIn, ann, STRANGER));
        const ends = await Promise.allSettled(Array.from({ length: 8 }, () => fixture.send(signIn, body, STRANGER)));
        const taken = ends.filter(({ status }) => status === "fulfilled").length;
        demand(taken === 1, `${taken} of 8 are taken`);
      },
    },
    {
      name: "an enrolment counts once",
      async run() {
        const fixture = await openFixture(bench, true);
        const ann = person();
        const body = enrol.finish.body(ann, await fixture.start(enrol, ann, ANN));
        await fixture.send(enrol, body, ANN);
        await demandRefused(() => fixture.send(enrol, body, ANN), "an enrolment that was used");
      },
    },
    {
      name: "what was begun by one is not ended by another",
      async run() {
        const { fixture, ann } = await twoEnrolled();
        const carl = person();
        const body = enrol.finish.body(carl, await fixture.start(enrol, carl, ANN));
        await demandRefused(() => fixture.send(enrol, body, BEN), "another device's enrolment");
        const proof = signIn.finish.body(ann, await fixture.start(signIn, ann, ANN));
        await demandRefused(() => fixture.send(signIn, proof, BEN), "another device's sign-in");
        const stolen = signIn.finish.body(ann, await fixture.start(signIn, ann, ANN));
        await demandRefused(() => fixture.send(signIn, stolen, STRANGER), "a device's sign-in, by a stranger");
      },
    },
    {
      name: "what was begun as an enrolment is not ended as a sign-in, nor the other way round",
      async run() {
        const { fixture, ann } = await twoEnrolled();
        const enrolling = await fixture.start(enrol, ann, ANN);
        const asProof = attempt(() => signIn.finish.body(ann, enrolling));
        if (asProof !== undefined)
          await demandRefused(() => fixture.send(signIn, asProof, ANN), "an enrolment's challenge");
        const proving = await fixture.start(signIn, ann, ANN);
        const asEnrolment = attempt(() => enrol.finish.body(ann, proving));
        if (asEnrolment !== undefined) {
          await demandRefused(() => fixture.send(enrol, asEnrolment, ANN), "a sign-in's challenge");
        }
      },
    },
    {
      name: "what comes an hour later is refused, also when the clock was set back meanwhile",
      async run() {
        for (const setBack of [false, true]) {
          const { fixture, world, ann } = await twoEnrolled();
          const begunAtMs = world.clock.now();
          const body = signIn.finish.body(ann, await fixture.start(signIn, ann, STRANGER));
          const carl = person();
          const enrolment = enrol.finish.body(carl, await fixture.start(enrol, carl, ANN));
          await world.clock.advance(TOO_LATE_MS);
          if (setBack) world.clock.setWallClock(begunAtMs);
          const what = setBack ? "what is an hour old, by a clock that was set back," : "what is an hour old";
          await demandRefused(() => fixture.send(signIn, body, STRANGER), what);
          await demandRefused(() => fixture.send(enrol, enrolment, ANN), what);
        }
      },
    },
  ];
};

/** A person may have nothing to say to it. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
