/** The target: an endpoint, and a valid request to it. Every attack is one change to such a request. */
import * as fc from "fast-check";
import { EMPTY, type Header, type RequestParts } from "./request.ts";

export interface Endpoint {
  readonly method: string;
  readonly path: string;
  /** As it is called in reports, where that is not the path: with its placeholders. */
  readonly name?: string;
  /** Bodies it would take; undefined: it takes none. */
  readonly body?: fc.Arbitrary<unknown>;
  /** It takes requests with these only. */
  readonly headers?: readonly Header[];
  /** It takes none that a proxy has passed on. */
  readonly isLocal?: boolean;
  /** It becomes a WebSocket. */
  readonly isSocket?: boolean;
  /** What a page's sign-in opens here would end it. */
  readonly isNoPages?: boolean;
}

export interface Credentials {
  /** A token that opens the endpoint. */
  readonly token: string;
  readonly webhookSecret: string;
  /** Credentials of a signed-in page. */
  readonly page: { readonly cookie: string; readonly csrf: string };
}

export interface Subject extends RequestParts {
  readonly credentials: Credentials;
  /** In the attack somewhere, and never to come back in an error. */
  readonly mark: string;
}

export const markArbitrary = fc
  .array(fc.constantFrom(..."0123456789abcdef"), { minLength: 12, maxLength: 12 })
  .map((digits) => `mark${digits.join("")}`);

export function subjectOf(endpoint: Endpoint, credentials: Credentials): fc.Arbitrary<Subject> {
  return fc
    .record({
      mark: markArbitrary,
      // Evenly spread: the generator's own liking for small numbers would make most of them one client.
      address: fc.noBias(fc.ipV4()),
      authority: authorities(endpoint, credentials),
      connection: fc.constantFrom<(string | undefined)[]>("close", "keep-alive", undefined),
      code: fc.nat(999_999),
      body: endpoint.body ?? fc.constant(undefined),
    })
    .map(({ mark, address, authority, connection, code, body }) => ({
      method: endpoint.method,
      target: endpoint.path,
      headers: [
        ["Host", "localhost"],
        ...authority,
        ...header("Connection", connection),
        // Each request comes from a new client; otherwise all but the first few would only hit the rate limit.
        ...header("X-Forwarded-For", endpoint.isLocal ? undefined : address),
        ...(endpoint.headers ?? []),
        ["X-Webhook-Secret", credentials.webhookSecret],
        ["X-Pairing-Code", String(code).padStart(6, "0")],
        ...header("Content-Type", body === undefined ? undefined : "application/json"),
      ] as Header[],
      body: body === undefined ? EMPTY : Buffer.from(JSON.stringify(body)),
      credentials,
      mark,
    }));
}

/** Mostly one that opens the endpoint. */
function authorities({ isNoPages }: Endpoint, { token, page }: Credentials): fc.Arbitrary<readonly Header[]> {
  const signedIn: readonly Header[] = [
    ["Cookie", page.cookie],
    ["X-Svc-Csrf", page.csrf],
  ];
  return fc.oneof(
    { weight: isNoPages ? 8 : 6, arbitrary: fc.constant(header("Authorization", `Bearer ${token}`)) },
    { weight: isNoPages ? 0 : 2, arbitrary: fc.constant(signedIn) },
    { weight: 1, arbitrary: fc.constantFrom([], ...signedIn.map((half) => [half])) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom("Bearer", `Bearer svc_${"0".repeat(64)}`, "Basic eDp5", "")
        .map((value) => header("Authorization", value)),
    },
  );
}

const header = (name: string, value: string | undefined): Header[] => (value === undefined ? [] : [[name, value]]);
