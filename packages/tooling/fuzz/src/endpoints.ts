/** Targets: every route that the running daemon documents, public paths, and paths without a route. */
import type { Json } from "@svc/contract";
import { workchatId, workchatMessageEvent, workchatPress } from "@svc/testkit/platforms/workchat/events";
import * as fc from "fast-check";
import type { Endpoint } from "./attacks/subject.ts";
import { jsonOfSchema } from "./json-schema.ts";
import type { Victim } from "./place/daemon.ts";
import { SOP_PATH } from "./place/procedures.ts";

const message = fc.record({
  message: fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }).map((text) => `say ${text}`),
});
const device = fc.record({ device_name: fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 64 }) });

/** `POST /api/channel-events`: requests and notes of a program on this machine. */
const posted = fc.record(
  {
    type: fc.constantFrom("human_approval_request", "build-done", "x"),
    content: fc.record(
      {
        title: fc.string({ unit: "grapheme", maxLength: 40 }),
        message: fc.string({ unit: "grapheme", maxLength: 400 }),
      },
      { requiredKeys: [] },
    ),
    channels: fc.subarray(["dashboard", "provider_a", "provider_b"]),
    run_id: fc.integer({ min: 0, max: 500 }).map((n) => `run-${n}`),
    step_id: fc.constantFrom("step", "step-1"),
    approve_keywords: fc.subarray(["ship it", "yes", "ja"]),
    reject_keywords: fc.subarray(["no", "stop"]),
  },
  { requiredKeys: ["type", "run_id", "step_id"] },
);

const id = fc.constantFrom("ada", "bob").map((name) => workchatId("ou", name));
const words = fc.string({ unit: "grapheme", maxLength: 60 });
const content: fc.Arbitrary<readonly [type: string, content: Json]> = fc.oneof(
  words.map((text) => ["text", { text }] as const),
  fc.jsonValue({ maxDepth: 4 }).map((json) => ["post", { zh_cn: { title: "t", content: json } } as Json] as const),
  fc
    .tuple(
      fc.constantFrom("image", "file", "audio", "media", "sticker", "location", "interactive", "vote"),
      fc.jsonValue(),
    )
    .map(([type, json]) => [type, json as Json] as const),
);

/** What Lark posts: messages, presses, the question whether the address is ours. */
const callback = fc.oneof(
  fc
    .record({ id: words, from: id, content })
    .map(({ id: name, from, content: [type, json] }) =>
      workchatMessageEvent({ id: name, from, atMs: Date.now(), type, content: json }),
    ),
  fc.record({ id: words, from: id, value: fc.jsonValue() }).map(({ id: name, from, value }) =>
    workchatPress({
      id: name,
      from,
      chat: workchatId("oc", "group"),
      message: workchatId("om", "card"),
      value: value as Json,
      atMs: Date.now(),
    }),
  ),
  words.map((challenge) => ({ type: "url_verification", token: "x", challenge })),
);

/** Attacked even if the document lacks them: the document may be wrong. */
const fixed = ({ place, hasWorkchat }: Victim): readonly Endpoint[] => [
  ...["/workchat", "/workchat-cn"]
    .filter(() => hasWorkchat)
    .map((path): Endpoint => ({ method: "POST", path, body: callback })),
  { method: "POST", path: "/webhook", body: message },
  { method: "POST", path: "/pair", body: device },
  { method: "POST", path: "/api/session", body: device, headers: [["Origin", `http://localhost:${place.port}`]] },
  { method: "DELETE", path: "/api/session", isNoPages: true },
  { method: "POST", path: "/api/channel-events", body: posted, isLocal: true },
  { method: "GET", path: "/api/events" },
  { method: "GET", path: "/ws", isSocket: true },
  { method: "POST", path: SOP_PATH, body: fc.jsonValue() },
  { method: "GET", path: "/health" },
  { method: "GET", path: "/metrics" },
  { method: "GET", path: "/openapi.json" },
  { method: "GET", path: "/api/status" },
  { method: "GET", path: "/api/tools" },
  { method: "GET", path: "/api/features" },
  { method: "GET", path: "/api/sessions" },
  { method: "POST", path: "/api/nowhere", body: message },
  { method: "GET", path: "/nowhere" },
  { method: "POST", path: "/webhook/nowhere", body: message },
];

export async function endpointsOf(victim: Victim): Promise<Endpoint[]> {
  const response = await victim.daemon.request("/openapi.json");
  const documented = response.ok ? fromDocument(await response.json()) : [];
  const others = await Promise.all(documented.map((endpoint) => withSession(thereOf(endpoint, victim), victim)));
  const all = [...fixed(victim), ...(await pageOf(victim)), ...others];
  return [...new Map(all.toReversed().map((endpoint) => [nameOf(endpoint), endpoint])).values()].toReversed();
}

/** The page, and its files. */
async function pageOf({ daemon }: Victim): Promise<Endpoint[]> {
  const html = await (await daemon.request("/")).text();
  const files = Array.from(html.matchAll(/(?:src|href)="(\/[\w./-]+)"/g), ([, path]) => path!);
  return ["/", ...new Set(files)].map((path) => ({ method: "GET", path, name: path.replace(/-[\w-]{8,}\./, "-*.") }));
}

/** Something that is there, where it matters. */
const thereOf = (endpoint: Endpoint, { there }: Victim): Endpoint => ({
  ...endpoint,
  path: there.get(endpoint.name ?? "") ?? endpoint.path,
});

/** The same for every run: it seeds the attacks. */
export const nameOf = ({ method, path, name }: Endpoint): string => `${method} ${name ?? path}`;

const UNKNOWN_SESSION = "some-id-0";

/** Each conversation route gets an existing conversation of its own: deleting one must not affect the other routes. */
async function withSession(endpoint: Endpoint, { daemon, credentials }: Victim): Promise<Endpoint> {
  if (!endpoint.path.startsWith(`/api/sessions/${UNKNOWN_SESSION}`)) return endpoint;
  const { token, webhookSecret } = credentials;
  const named = `for-${endpoint.method}-${endpoint.path.replace(/\W/g, "-")}`;
  const headers = { "X-Webhook-Secret": webhookSecret, "X-Session-Id": named };
  await daemon.request("/webhook", { token, headers, body: { message: "hello" } });
  const listed: unknown = await (await daemon.request("/api/sessions?limit=200", { token })).json();
  const sessions = field(listed, "sessions");
  const found = Array.isArray(sessions) ? sessions.find((one) => field(one, "session_id") === named) : undefined;
  const id = field(found, "id");
  return typeof id === "string"
    ? { ...endpoint, path: endpoint.path.replace(UNKNOWN_SESSION, encodeURIComponent(id)) }
    : endpoint;
}

const METHODS: ReadonlySet<string> = new Set(["get", "post", "put", "patch", "delete"]);

/** Anything that is not as the format has it is left out: a broken document must not keep the fixed list from being tried. */
export function fromDocument(document: unknown): Endpoint[] {
  return entries(field(document, "paths")).flatMap(([path, operations]) =>
    entries(operations)
      .filter(([method]) => METHODS.has(method))
      .map(([method, operation]): Endpoint => {
        const schema = field(operation, "requestBody", "content", "application/json", "schema");
        return {
          method: method.toUpperCase(),
          path: path.replace(/\{[^}]*\}/g, UNKNOWN_SESSION),
          name: path,
          ...(schema !== undefined && { body: jsonOfSchema(schema, document) }),
        };
      }),
  );
}

function field(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce<unknown>((inner, name) => (isObject(inner) ? inner[name] : undefined), value);
}

const entries = (value: unknown): [string, unknown][] => (isObject(value) ? Object.entries(value) : []);

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
