/** `@svc/create`: what `pnpm new` makes, as a plan that tests can read. */
export { type Fixture, readFixture } from "./fixture.ts";
export { type Kind, KINDS } from "./kinds.ts";
export { type Plan, planPackage } from "./plan.ts";
export { readRequest, type Request } from "./request.ts";
