/** What is kept, for how long, and what is told of it. */
import { type Json, SvcError } from "@svc/contract";
import { type Check, demand, outcomeOf, told } from "../../check.ts";
import { everyAlteration } from "../channel/hostile-json.ts";
import { ANN, BEN, demandRefused, newWorld, openHouse, STRANGER } from "./open.ts";
import type { AuthBench } from "./subject.ts";

/** Of strangers, before somebody ends what they began before them. */
const FLOOD = 10_000;

export const keepingChecks = (bench: AuthBench): Check[] => {
  const { enrol, signIn, person, secretsOf } = bench.subject;
  return [
    {
      name: "who has enrolled signs in after a restart",
      async run() {
        const world = newWorld();
        const ann = person();
        await (await openHouse(bench, true, world)).through(enrol, ann, ANN);
        const { signIn: as } = await (await openHouse(bench, true, world)).through(signIn, ann, STRANGER);
        demand(as === "client-ann", `signed in as ${String(as)}`);
      },
    },
    {
      name: "a revoked device is nobody any more, and nothing of it is kept",
      async run() {
        const world = newWorld();
        const house = await openHouse(bench, true, world);
        const [ann, ben] = [person(), person()];
        await house.through(enrol, ann, ANN);
        const before = await world.kept();
        await house.through(enrol, ben, BEN);
        const body = signIn.finish.body(ben, await house.start(signIn, ben, STRANGER));
        world.revoke("client-ben");
        await demandRefused(() => house.send(signIn, body, STRANGER), "a revoked device's sign-in");
        await demandRefused(() => house.through(signIn, ben, STRANGER), "a revoked device's sign-in");
        const restarted = await openHouse(bench, true, world);
        demand((await world.kept()) === before, "something of it is kept");
        await restarted.through(signIn, ann, STRANGER);
      },
    },
    {
      name: "thousands of strangers who begin end nobody else's sign-in, and leave nothing",
      async run() {
        const world = newWorld();
        const house = await openHouse(bench, true, world);
        const ann = person();
        await house.through(enrol, ann, ANN);
        const kept = [await world.kept(), world.clock.waiting].join();
        const begun = await house.start(signIn, ann, STRANGER);
        for (let count = 0; count < FLOOD; count += 1) await house.start(signIn, ann, STRANGER);
        demand([await world.kept(), world.clock.waiting].join() === kept, "something of it is kept");
        await house.send(signIn, signIn.finish.body(ann, begun), STRANGER);
      },
    },
    {
      name: "no altered answer makes anybody somebody else, and none is a fault of ours",
      async run() {
        const house = await openHouse(bench, true);
        const [ann, ben] = [person(), person()];
        await house.through(enrol, ann, ANN);
        await house.through(enrol, ben, BEN);
        const example = signIn.finish.body(ann, await house.start(signIn, ann, STRANGER));
        const count = alterations(example);
        for (let which = 0; which < count; which += 1) {
          const genuine = signIn.finish.body(ann, await house.start(signIn, ann, STRANGER));
          const altered = alteration(genuine, which);
          const outcome = await outcomeOf(() => house.send(signIn, altered, STRANGER));
          const what = JSON.stringify(altered).slice(0, 500);
          demand(outcome.kind !== "hung", `never answered: ${what}`);
          if (outcome.kind === "resolved") demand(outcome.value.signIn === "client-ann", `somebody else: ${what}`);
          else demand(outcome.error instanceof SvcError, `${told(outcome.error)} for ${what}`);
        }
      },
    },
    {
      name: "no altered enrolment is a fault of ours",
      async run() {
        const enrolment = async () => {
          const house = await openHouse(bench, true);
          const carl = person();
          return { house, genuine: enrol.finish.body(carl, await house.start(enrol, carl, ANN)) };
        };
        const count = alterations((await enrolment()).genuine);
        for (let which = 0; which < count; which += 1) {
          const { house, genuine } = await enrolment();
          const outcome = await outcomeOf(() => house.send(enrol, alteration(genuine, which), ANN));
          if (outcome.kind === "rejected") demand(outcome.error instanceof SvcError, told(outcome.error));
          demand(outcome.kind !== "hung", "never answered");
        }
      },
    },
    {
      name: "its secrets stand in no answer and in no line of the log",
      async run() {
        const house = await openHouse(bench, true);
        const ann = person();
        await house.through(enrol, ann, ANN);
        await house.through(signIn, ann, STRANGER);
        const body = signIn.finish.body(ann, await house.start(signIn, ann, STRANGER));
        await house.send(signIn, body, BEN).catch(() => undefined);
        const secrets = secretsOf(ann);
        demand(secrets.length > 0, "hand in what is secret of a person who has enrolled");
        for (const secret of secrets) {
          demand(!house.answered().includes(secret), "an answer has it");
          demand(!house.log.text().includes(secret), "a line of the log has it");
        }
      },
    },
  ];
};

const alterations = (genuine: Json): number => [...everyAlteration(genuine)].length;

const alteration = (genuine: Json, which: number): unknown => everyAlteration(genuine).drop(which).next().value;
