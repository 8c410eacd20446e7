/** What to attack: every route that the running daemon documents, what a stranger can reach, and paths nobody serves. */
import * as fc from "fast-check";
import type { Endpoint } from "./attacks/subject.ts";
import { jsonOfSchema } from "./json-schema.ts";
import type { Victim } from "./place/daemon.ts";

const message = fc.record({
  message: fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }).map((text) => `say ${text}`),
});
const device = fc.record({ device_name: fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 64 }) });

/** Attacked whether the document has them or not: the document may be what is wrong. */
const FIXED: readonly Endpoint[] = [
  { method: "POST", path: "/webhook", body: message },
  { method: "POST", path: "/pair", body: device },
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
  const known = new Set(FIXED.map(nameOf));
  const others = documented.filter((endpoint) => !known.has(nameOf(endpoint)));
  return [...FIXED, ...(await Promise.all(others.map((endpoint) => withSession(endpoint, victim))))];
}

/** The same for every run: it seeds the attacks. */
export const nameOf = ({ method, path, name }: Endpoint): string => `${method} ${name ?? path}`;

const NOBODY = "some-id-0";

/** A conversation's routes get one that is there, each its own: what is deleted on one of them must not hide the others. */
async function withSession(endpoint: Endpoint, { daemon, credentials }: Victim): Promise<Endpoint> {
  if (!endpoint.path.startsWith(`/api/sessions/${NOBODY}`)) return endpoint;
  const { token, webhookSecret } = credentials;
  const named = `for-${endpoint.method}-${endpoint.path.replace(/\W/g, "-")}`;
  const headers = { "X-Webhook-Secret": webhookSecret, "X-Session-Id": named };
  await daemon.request("/webhook", { token, headers, body: { message: "hello" } });
  const listed: unknown = await (await daemon.request("/api/sessions?limit=200", { token })).json();
  const sessions = field(listed, "sessions");
  const found = Array.isArray(sessions) ? sessions.find((one) => field(one, "session_id") === named) : undefined;
  const id = field(found, "id");
  return typeof id === "string"
    ? { ...endpoint, path: endpoint.path.replace(NOBODY, encodeURIComponent(id)) }
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
          path: path.replace(/\{[^}]*\}/g, NOBODY),
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
