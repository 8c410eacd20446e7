/** What is kept, for how long, and what is told of it. */
import { type Json, SvcError } from "@svc/contract";
import { type Check, demand, outcomeOf, errorText } from "../../check.ts";
import { everyAlteration } from "../channel/hostile-json.ts";
import { ANN, BEN, demandRefused, newWorld, openFixture, STRANGER } from "./open.ts";
import type { AuthBench } from "./subject.ts";

/** Sign-ins that strangers begin before the suite ends its own. */
const FLOOD = 10_000;

export const keepingChecks = (bench: AuthBench): Check[] => {
  const { enrol, signIn, person, secretsOf } = bench.subject;
  return [
    {
      name: "who has enrolled signs in after a restart",
      async run() {
        const world = newWorld();
        const ann = person();
        await (await openFixture(bench, true, world)).through(enrol, ann, ANN);
        const { signIn: as } = await (await openFixture(bench, true, world)).through(signIn, ann, STRANGER);
        demand(as === "client-ann", `signed in as ${String(as)}`);
      },
    },
    {
      name: "a revoked device is nobody any more, and nothing of it is kept",
      async run() {
        const world = newWorld();
        const fixture = await openFixture(bench, true, world);
        const [ann, ben] = [person(), person()];
        await fixture.through(enrol, ann, ANN);
        const before = await world.kept();
        await fixture.through(enrol, ben, BEN);
        const body = signIn.finish.body(ben, await fixture.start(signIn, ben, STRANGER));
        world.revoke("client-ben");
        await demandRefused(() => fixture.send(signIn, body, STRANGER), "a revoked device's sign-in");
        await demandRefused(() => fixture.through(signIn, ben, STRANGER), "a revoked device's sign-in");
        const restarted = await openFixture(bench, true, world);
        demand((await world.kept()) === before, "something of it is kept");
        await restarted.through(signIn, ann, STRANGER);
      },
    },
    {
      name: "thousands of strangers who begin end nobody else's sign-in, and leave nothing",
      async run() {
        const world = newWorld();
        const fixture = await openFixture(bench, true, world);
        const ann = person();
        await fixture.through(enrol, ann, ANN);
        const kept = [await world.kept(), world.clock.waiting].join();
        const begun = await fixture.start(signIn, ann, STRANGER);
        for (let count = 0; count < FLOOD; count += 1) await fixture.start(signIn, ann, STRANGER);
        demand([await world.kept(), world.clock.waiting].join() === kept, "something of it is kept");
        await fixture.send(signIn, signIn.finish.body(ann, begun), STRANGER);
      },
    },
    {
      name: "no altered answer signs in another person, and none is an internal error",
      async run() {
        const fixture = await openFixture(bench, true);
        const [ann, ben] = [person(), person()];
        await fixture.through(enrol, ann, ANN);
        await fixture.through(enrol, ben, BEN);
        const example = signIn.finish.body(ann, await fixture.start(signIn, ann, STRANGER));
        const count = alterations(example);
        for (let which = 0; which < count; which += 1) {
          const genuine = signIn.finish.body(ann, await fixture.start(signIn, ann, STRANGER));
          const altered = alteration(genuine, which);
          const outcome = await outcomeOf(() => fixture.send(signIn, altered, STRANGER));
          const what = JSON.stringify(altered).slice(0, 500);
          demand(outcome.kind !== "hung", `never answered: ${what}`);
          if (outcome.kind === "resolved") demand(outcome.value.signIn === "client-ann", `another person: ${what}`);
          else demand(outcome.error instanceof SvcError, `${errorText(outcome.error)} for ${what}`);
        }
      },
    },
    {
      name: "no altered enrolment is a fault of ours",
      async run() {
        const enrolment = async () => {
          const fixture = await openFixture(bench, true);
          const carl = person();
          return { fixture, genuine: enrol.finish.body(carl, await fixture.start(enrol, carl, ANN)) };
        };
        const count = alterations((await enrolment()).genuine);
        for (let which = 0; which < count; which += 1) {
          const { fixture, genuine } = await enrolment();
          const outcome = await outcomeOf(() => fixture.send(enrol, alteration(genuine, which), ANN));
          if (outcome.kind === "rejected") demand(outcome.error instanceof SvcError, errorText(outcome.error));
          demand(outcome.kind !== "hung", "never answered");
        }
      },
    },
    {
      name: "its secrets stand in no answer and in no line of the log",
      async run() {
        const fixture = await openFixture(bench, true);
        const ann = person();
        await fixture.through(enrol, ann, ANN);
        await fixture.through(signIn, ann, STRANGER);
        const body = signIn.finish.body(ann, await fixture.start(signIn, ann, STRANGER));
        await fixture.send(signIn, body, BEN).catch(() => undefined);
        const secrets = secretsOf(ann);
        demand(secrets.length > 0, "hand in what is secret of a person who has enrolled");
        for (const secret of secrets) {
          demand(!fixture.answered().includes(secret), "an answer has it");
          demand(!fixture.log.text().includes(secret), "a line of the log has it");
        }
      },
    },
  ];
};

const alterations = (genuine: Json): number => [...everyAlteration(genuine)].length;

const alteration = (genuine: Json, which: number): unknown => everyAlteration(genuine).drop(which).next().value;
