/** What to attack: every route that the running daemon documents, what a stranger can reach, and paths nobody serves. */
import * as fc from "fast-check";
import type { Endpoint } from "./attacks/subject.ts";
import { jsonOfSchema } from "./json-schema.ts";

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

export async function endpointsOf(url: string): Promise<Endpoint[]> {
  const response = await fetch(new URL("/openapi.json", url));
  const documented = response.ok ? fromDocument(await response.json()) : [];
  const known = new Set(FIXED.map(nameOf));
  return [...FIXED, ...documented.filter((endpoint) => !known.has(nameOf(endpoint)))];
}

export const nameOf = ({ method, path }: Endpoint): string => `${method} ${path}`;

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
          path: path.replace(/\{[^}]*\}/g, "some-id-0"),
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
