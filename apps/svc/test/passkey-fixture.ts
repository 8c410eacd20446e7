/** The full binary with passkeys on, asked over HTTP by people with authenticators in software. */
import { runBinary, type RunResult } from "@svc/testkit/binary/run-binary";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import type { SoftAuthenticator } from "@svc/testkit/webauthn/authenticator";
import type {
  AssertionJson,
  CreationOptionsJson,
  RegistrationJson,
  RequestOptionsJson,
} from "@svc/testkit/webauthn/json";

export const SIGN_IN = "[security.webauthn]\nenabled = true\nsign_in = true\n";
export const BEARER_ONLY = "[security.webauthn]\nenabled = true\n";

/** A device by its token, a page by its cookie and the secret beside it; nothing: a stranger. */
export interface As {
  readonly token?: string;
  readonly page?: Readonly<Record<string, string>>;
}

export interface Answered {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  /** Of the page that it signed in. */
  readonly page: Readonly<Record<string, string>> | undefined;
}

export const startAll = (home: string, env: Readonly<Record<string, string>> = {}): Promise<RunningBinary> =>
  startBinary({ binary: fullestBinaryPath(), home, env });

export const svc = (home: string, ...words: string[]): Promise<RunResult> =>
  runBinary(words, { home, binary: fullestBinaryPath() });

/** The page as people open it: passkeys have names, not addresses. */
export const originOf = ({ url }: RunningBinary): string => url.replace("127.0.0.1", "localhost");

export async function ask(
  daemon: RunningBinary,
  method: string,
  path: string,
  { token, page }: As = {},
  body?: object,
): Promise<Answered> {
  const answer = await daemon.request(`/api/${path}`, {
    method,
    ...(token !== undefined && { token }),
    headers: { origin: originOf(daemon), ...page },
    ...(body !== undefined && { body }),
  });
  const told = (await answer.json()) as Readonly<Record<string, unknown>>;
  const cookie = /^(svc_session=[^;]+);/.exec(answer.headers.get("set-cookie") ?? "")?.[1];
  const csrf = told["csrf"];
  const signedIn = cookie !== undefined && typeof csrf === "string" ? { cookie, "x-svc-csrf": csrf } : undefined;
  return { status: answer.status, body: told, page: signedIn };
}

const post = (daemon: RunningBinary, name: string, as: As, body: object): Promise<Answered> =>
  ask(daemon, "POST", `webauthn/${name}`, as, body);

export async function addPasskey(
  daemon: RunningBinary,
  as: As,
  authenticator: SoftAuthenticator,
  userId = "ann",
): Promise<Answered> {
  const { body } = await post(daemon, "register/start", as, { user_id: userId, user_name: userId });
  const made: RegistrationJson = authenticator.create(body as unknown as CreationOptionsJson, originOf(daemon));
  return post(daemon, "register/finish", as, made);
}

/** What a stranger's page sends, having asked for a challenge. */
export async function proofOf(
  daemon: RunningBinary,
  authenticator: SoftAuthenticator,
  as: As = {},
): Promise<AssertionJson> {
  const { body } = await post(daemon, "auth/start", as, {});
  return authenticator.get(body as unknown as RequestOptionsJson, originOf(daemon));
}

export const prove = (daemon: RunningBinary, proof: AssertionJson, as: As = {}): Promise<Answered> =>
  post(daemon, "auth/finish", as, proof);

/** As `svc passkeys` lists it. */
export interface Line {
  readonly id: string;
  readonly user_id: string;
  readonly name: string;
  readonly device: { readonly id: string; readonly name: string };
  readonly [key: string]: unknown;
}

export async function listed(home: string, ...words: string[]): Promise<Line[]> {
  const { stdout } = await svc(home, "passkeys", "list", "--json", ...words);
  return (JSON.parse(stdout) as { passkeys: Line[] }).passkeys;
}

export async function pairAnother(daemon: RunningBinary, home: string, scope = "operator"): Promise<string> {
  const { stdout } = await svc(home, "pair", "--scope", scope, "--name", `another ${scope}`, "--json");
  return daemon.pair(/\d{6}/.exec(stdout)![0]);
}
