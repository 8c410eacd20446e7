/** A page that is signed in, as its browser and its script would be. */
import { Harness, type HarnessOptions } from "./harness.ts";
import { type Answer, call } from "./http.ts";

export interface SignedIn {
  readonly answer: Answer;
  readonly cookie: string;
  readonly csrf: string;
  /** Those of every request of the page. */
  readonly headers: Readonly<Record<string, string>>;
}

export const originOf = ({ port }: Pick<Harness, "port">): string => `http://localhost:${port}`;

/** `POST /api/session`, whatever comes of it. */
export const askSignIn = (to: Harness, headers: Readonly<Record<string, string>>, body?: string): Promise<Answer> =>
  call(to, {
    method: "POST",
    path: "/api/session",
    headers: { origin: originOf(to), ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { body }),
  });

/** With a token. Throws when it is refused. */
export async function signIn(
  to: Harness,
  token: string,
  more: Readonly<Record<string, string>> = {},
): Promise<SignedIn> {
  return signedIn(await askSignIn(to, { authorization: `Bearer ${token}`, ...more }));
}

export function signedIn(answer: Answer): SignedIn {
  const cookie = cookieOf(answer);
  const csrf: unknown = answer.json?.csrf;
  if (answer.status !== 200 || typeof csrf !== "string") throw new Error(`not signed in: ${answer.text}`);
  return { answer, cookie, csrf, headers: { cookie: `svc_session=${cookie}`, "x-svc-csrf": csrf } };
}

const cookieOf = ({ headers }: Answer): string => /svc_session=([^;]*)/.exec(String(headers["set-cookie"]))?.[1] ?? "";

/** A gateway with a device of each scope. */
export async function started(options: HarnessOptions = {}) {
  const harness = new Harness();
  const tokens = {
    operator: harness.device("operator"),
    read: harness.device("read"),
    webhook: harness.device("webhook"),
  };
  return { gateway: await harness.start(options), tokens };
}

/** Of a request that any device but a program's may send. */
export const status = async (to: Harness, { headers }: Pick<SignedIn, "headers">, path = "/api/tools") =>
  (await call(to, { path, headers })).status;
