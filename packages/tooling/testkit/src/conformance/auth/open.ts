/** An instance of a feature of kind `auth`, with people before it. */
import {
  type ClientId,
  type Contributions,
  type Json,
  type RouteCaller,
  type RouteResult,
  type SecretStore,
  SvcError,
} from "@svc/contract";
import * as v from "valibot";
import type { CapturedLogger } from "../../capture-logger.ts";
import { demand, outcomeOf, errorText } from "../../check.ts";
import { fakeClock, type FakeClock } from "../../fake-clock.ts";
import { fakeFeatureContext } from "../../feature-context.ts";
import { memorySecrets, memorySecretsByClient } from "../../memory-secrets.ts";
import { device, routeCaller } from "./route-caller.ts";
import type { AuthBench, Ceremony } from "./subject.ts";

/** What lasts over a restart. */
export interface World {
  readonly clock: FakeClock;
  readonly secrets: SecretStore;
  readonly secretsOf: (clientId: ClientId) => SecretStore;
  readonly state: SecretStore;
  /** The device is nobody any more. */
  revoke(clientId: string): void;
  readonly revoked: ReadonlySet<string>;
  /** Names of all that is kept. */
  kept(): Promise<string>;
}

export function newWorld(): World {
  const [secrets, state] = [memorySecrets(), memorySecrets()];
  const own = memorySecretsByClient();
  const revoked = new Set<string>();
  return {
    clock: fakeClock(),
    secrets,
    secretsOf: own.of,
    state,
    revoked,
    revoke: (clientId) => {
      revoked.add(clientId);
      own.forget(clientId as ClientId);
    },
    kept: async () => {
      const stores = [["secrets", secrets] as const, ["state", state] as const, ...own.all];
      const lines = await Promise.all(stores.map(async ([owner, store]) => [owner, ...(await store.list())]));
      return lines.filter(({ length }) => length > 1).join("\n");
    },
  };
}

export interface Fixture {
  readonly made: Contributions;
  readonly log: CapturedLogger;
  /** Everything that was answered, as one text. */
  answered(): string;
  start(ceremony: Ceremony, person: unknown, caller: RouteCaller): Promise<Json>;
  send(ceremony: Ceremony, body: unknown, caller: RouteCaller): Promise<RouteResult>;
  /** Both halves. */
  through(ceremony: Ceremony, person: unknown, caller: RouteCaller): Promise<RouteResult>;
}

export const STRANGER: RouteCaller = { kind: "stranger" };
export const ANN = device("client-ann");
export const BEN = device("client-ben");

/** `open`: with the section in which strangers may sign in. */
export async function openFixture(
  { definition, subject }: AuthBench,
  open: boolean,
  world = newWorld(),
): Promise<Fixture> {
  const { config, openConfig, publicUrl, origin } = subject;
  const section: unknown = v.parse(definition.config ?? v.any(), open ? openConfig : config);
  const { clock, secrets, secretsOf, state, revoked } = world;
  const pairedClient = (kept: string) => (revoked.has(kept) ? undefined : (kept as ClientId));
  const context = fakeFeatureContext(section, { clock, secrets, secretsOf, state, pairedClient, publicUrl });
  const made = (await definition.load()).create(context);
  await made.register?.(new AbortController().signal);
  const call = routeCaller(made);
  const answers: string[] = [];
  const send = async (path: string, body: unknown, caller: RouteCaller): Promise<RouteResult> => {
    const result = await call({ path, body, caller, ...(origin !== undefined && { origin }) });
    answers.push(JSON.stringify(result.body));
    return result;
  };
  const start = async ({ start: { path, body } }: Ceremony, person: unknown, caller: RouteCaller): Promise<Json> =>
    (await send(path, body(person), caller)).body;
  const finish = ({ finish: { path } }: Ceremony, body: unknown, caller: RouteCaller) => send(path, body, caller);
  return {
    made,
    log: context.log,
    answered: () => answers.join("\n"),
    start,
    send: finish,
    through: async (ceremony, person, caller) =>
      finish(ceremony, ceremony.finish.body(person, await start(ceremony, person, caller)), caller),
  };
}

/** Fails the check unless it is refused, by an error that says so. */
export async function demandRefused(work: () => Promise<RouteResult>, what: string): Promise<void> {
  const outcome = await outcomeOf(work);
  demand(outcome.kind !== "resolved", `${what} is taken`);
  demand(outcome.kind !== "hung", `${what} is never answered`);
  demand(outcome.error instanceof SvcError, `${what} ends with ${errorText(outcome.error)}, which is no SvcError`);
}
