/** The feature with fakes around it, asked as the gateway asks it, by people with authenticators in software. */
import type { ClientId, Json, RouteCaller } from "@svc/contract";
import { type CallRoute, device, routeCaller } from "@svc/testkit/conformance/auth-conformance";
import { fakeClock } from "@svc/testkit/fake-clock";
import { fakeFeatureContext, type FakeFeatureContext } from "@svc/testkit/feature-context";
import { type ClientSecrets, memorySecrets, memorySecretsByClient } from "@svc/testkit/memory-secrets";
import type { Lies, SoftAuthenticator } from "@svc/testkit/webauthn/authenticator";
import type {
  AssertionJson,
  CreationOptionsJson,
  RegistrationJson,
  RequestOptionsJson,
} from "@svc/testkit/webauthn/json";
import * as v from "valibot";
import definition, { type Config } from "../src/index.ts";

export const ORIGIN = "https://agent.example.org";
export const SECTION = { enabled: true, rp_origin: ORIGIN };
export const OPEN = { ...SECTION, sign_in: true };

export const ANN = device("client-ann");
export const ANNS_PAGE = device("client-ann", "page");
export const BEN = device("client-ben");
export const STRANGER: RouteCaller = { kind: "stranger" };
export const OPERATOR: RouteCaller = { kind: "operator" };

export interface World {
  readonly clock: ReturnType<typeof fakeClock>;
  readonly secrets: ReturnType<typeof memorySecrets>;
  readonly own: ClientSecrets;
  readonly revoked: ReadonlySet<string>;
  /** The device is nobody any more. */
  revoke(clientId: string): void;
}

export function newWorld(): World {
  const own = memorySecretsByClient();
  const revoked = new Set<string>();
  const revoke = (clientId: string): void => {
    revoked.add(clientId);
    own.forget(clientId as ClientId);
  };
  return { clock: fakeClock(), secrets: memorySecrets(), own, revoked, revoke };
}

export interface Fixture extends World {
  readonly call: CallRoute;
  readonly log: FakeFeatureContext<Config>["log"];
  begin(caller: RouteCaller, userId: string, userName?: string): Promise<CreationOptionsJson>;
  finish(caller: RouteCaller, body: RegistrationJson & { name?: string }): Promise<Shown>;
  /** All of it. */
  add(caller: RouteCaller, authenticator: SoftAuthenticator, userId?: string): Promise<Shown>;
  ask(caller: RouteCaller, userId?: string): Promise<RequestOptionsJson>;
  answer(caller: RouteCaller, body: AssertionJson): Promise<SignedIn>;
  /** All of it. */
  signIn(caller: RouteCaller, authenticator: SoftAuthenticator, lies?: Lies): Promise<SignedIn>;
  list(caller: RouteCaller, userId?: string): Promise<Shown[]>;
}

/** A passkey as it is told. */
export interface Shown {
  readonly id: string;
  readonly user_id: string;
  readonly name: string;
  readonly last_used_at: string | null;
  readonly suspect: boolean;
  readonly can_sync: boolean;
  readonly is_synced: boolean;
  readonly client_id?: string;
}

export interface SignedIn {
  readonly body: Json;
  readonly as: ClientId | undefined;
}

export interface FixtureOptions {
  readonly section?: Readonly<Record<string, unknown>>;
  readonly publicUrl?: string;
  /** `Origin` of all requests. Default: ORIGIN; null: none. */
  readonly origin?: string | null;
}

export async function openFixture(
  { section = SECTION, publicUrl, origin = ORIGIN }: FixtureOptions = {},
  world: World = newWorld(),
): Promise<Fixture> {
  const { clock, secrets, own, revoked } = world;
  const pairedClient = (kept: string) => (revoked.has(kept) ? undefined : (kept as ClientId));
  const config = v.parse(definition.config!, section);
  const context = fakeFeatureContext(config, { clock, secrets, secretsOf: own.of, pairedClient, publicUrl });
  const made = (await definition.load()).create(context);
  await made.register?.(new AbortController().signal);
  const callRoute = routeCaller(made);
  const call: CallRoute = (asked) => callRoute({ ...(origin !== null && { origin }), ...asked });
  const post = async <T>(path: string, caller: RouteCaller, body: unknown): Promise<T> =>
    (await call({ path: `/api/webauthn/${path}`, caller, body })).body as T;

  const begin: Fixture["begin"] = (caller, userId, userName = userId) =>
    post("register/start", caller, { user_id: userId, user_name: userName });
  const finish: Fixture["finish"] = (caller, body) => post("register/finish", caller, body);
  const ask: Fixture["ask"] = (caller, userId) =>
    post("auth/start", caller, userId === undefined ? {} : { user_id: userId });
  const answer: Fixture["answer"] = async (caller, answered) => {
    const { body, signIn } = await call({ path: "/api/webauthn/auth/finish", caller, body: answered });
    return { body, as: signIn };
  };
  const page = origin ?? ORIGIN;
  return {
    ...world,
    call,
    log: context.log,
    begin,
    finish,
    add: async (caller, authenticator, userId = "ann") =>
      finish(caller, authenticator.create(await begin(caller, userId), page)),
    ask,
    answer,
    signIn: async (caller, authenticator, lies) => answer(caller, authenticator.get(await ask(caller), page, lies)),
    list: async (caller, userId) => {
      const query = userId === undefined ? "" : `?user_id=${encodeURIComponent(userId)}`;
      const { body } = await call({ method: "GET", path: `/api/webauthn/credentials${query}`, caller });
      return (body as unknown as { credentials: Shown[] }).credentials;
    },
  };
}

/** The code that it is refused with. */
export async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
  return "taken";
}
