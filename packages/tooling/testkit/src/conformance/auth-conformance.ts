/**
 * What every feature keeps that lets people prove who they are. A package joins with a person in software who can do it:
 *
 *     authConformance(definition, { root: `${import.meta.dirname}/..`, config, openConfig, person, enrol, signIn, secretsOf });
 */
import type { FeatureDefinition } from "@svc/contract";
import { type Check, describeChecks } from "../check.ts";
import { keepingChecks } from "./auth/keeping-checks.ts";
import { routeChecks } from "./auth/route-checks.ts";
import { signInChecks } from "./auth/sign-in-checks.ts";
import type { AuthBench, AuthSubject } from "./auth/subject.ts";

export { type CallRoute, device, type RouteCall, routeCaller } from "./auth/route-caller.ts";
export type { AuthSubject, Ceremony } from "./auth/subject.ts";

export function authConformance<Person>(definition: FeatureDefinition, subject: AuthSubject<Person>): void {
  describeChecks(`auth ${definition.id}`, authChecks(definition, subject));
}

export function authChecks<Person>(definition: FeatureDefinition, subject: AuthSubject<Person>): Check[] {
  const bench: AuthBench = { definition, subject: subject as unknown as AuthSubject };
  return [...routeChecks(bench), ...signInChecks(bench), ...keepingChecks(bench)];
}
