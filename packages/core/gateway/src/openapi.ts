/** `@svc/gateway/openapi`: the OpenAPI 3.1 document, made of the routes' own data. Needs no running gateway. */
import { ErrorBody, type ParameterSchemas } from "@svc/api";
import { ERRORS, type ErrorCode, type Json } from "@svc/contract";
import { type ConversionConfig, toJsonSchema } from "@valibot/to-json-schema";
import * as v from "valibot";
import { type AnswerSpec, type RouteSpec, errorsOf } from "./routes/route.ts";
import { APPROVAL_SPECS, POLICY_RULE_SPECS } from "./routes/approvals.ts";
import { AUDIT_SPECS, SOP_EDITOR_SPECS, SOP_RUN_SPECS, SOP_SPECS, SOP_VERSION_SPECS } from "./routes/sops.ts";
import { CHANNEL_EVENTS } from "./routes/channel-events.ts";
import { DEVICE_SPECS, PAIRING_CODE_SPECS } from "./routes/devices.ts";
import { FILE_SPECS } from "./routes/files.ts";
import { HEALTH, METRICS } from "./routes/monitoring.ts";
import { INBOX_SPECS } from "./routes/inbox.ts";
import { OPERATION_SPECS } from "./routes/operations.ts";
import { PAGE_SESSION_SPECS, PAIR } from "./routes/sign-in.ts";
import { PUSH_SPECS } from "./routes/push.ts";
import { COMMAND_SPECS, REPORT_SPECS } from "./routes/reports.ts";
import { SESSION_TURN_SPECS } from "./routes/session-turns.ts";
import { SESSION_SPECS } from "./routes/sessions.ts";
import { SETTINGS_SPECS } from "./routes/settings.ts";
import { WEBHOOK } from "./routes/webhook.ts";
import { EVENTS } from "./streams/sse.ts";
import { SOCKET } from "./streams/upgrade.ts";
import { OPENAPI } from "./routes/openapi.ts";

export const CORE_ROUTES: readonly RouteSpec[] = [
  WEBHOOK,
  PAIR,
  ...PAGE_SESSION_SPECS,
  HEALTH,
  METRICS,
  EVENTS,
  SOCKET,
  CHANNEL_EVENTS,
  ...REPORT_SPECS,
  ...INBOX_SPECS,
  ...SESSION_SPECS,
  ...SESSION_TURN_SPECS,
  ...FILE_SPECS,
  ...APPROVAL_SPECS,
  ...POLICY_RULE_SPECS,
  ...SETTINGS_SPECS,
  ...OPERATION_SPECS,
  ...COMMAND_SPECS,
  ...SOP_SPECS,
  ...SOP_RUN_SPECS,
  ...SOP_EDITOR_SPECS,
  ...SOP_VERSION_SPECS,
  ...AUDIT_SPECS,
  ...DEVICE_SPECS,
  ...PAIRING_CODE_SPECS,
  ...PUSH_SPECS,
  OPENAPI,
];

type Node = { readonly [key: string]: Json };

export interface OpenApiOptions {
  readonly version: string;
  readonly routes: readonly RouteSpec[];
}

const INTRODUCTION =
  "HEAD comes with every GET, and OPTIONS tells the methods of a path. Every error has the body that the schema Error " +
  "describes, also what is refused before there is a request: 400, 404, 405, 408 and 431. One of 500 or more has the header " +
  "X-Request-Id, by which svc logs --request finds what was written about it. The paths of channels are not " +
  "here: what comes in by them is as their platforms have it. Nor are the paths that start procedures: they are as /webhook, " +
  "take any JSON, and are answered 202.";

export function openApiDocument({ version, routes }: OpenApiOptions): Node {
  const paths: Record<string, Record<string, Node>> = {};
  for (const route of routes) (paths[route.path] ??= {})[route.method.toLowerCase()] = operation(route);
  return {
    openapi: "3.1.1",
    info: { title: "svc", version, description: INTRODUCTION },
    paths,
    components: {
      schemas: { Error: inputSchema(ErrorBody) },
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "The token that POST /pair answered." },
        pageCookie: { type: "apiKey", in: "cookie", name: "svc_session", description: "Set by POST /api/session." },
        pageCsrf: { type: "apiKey", in: "header", name: "X-Svc-Csrf", description: "Answered by POST /api/session." },
      },
    },
  };
}

function operation(route: RouteSpec): Node {
  const { summary, body, bytes, bodyOptional = false } = route;
  const parameters = [
    ...parametersOf("path", route.params),
    ...parametersOf("query", route.query),
    ...parametersOf("header", route.headers),
  ];
  return {
    operationId: operationId(route),
    summary,
    description: [route.details, scopesOf(route)].filter((text) => text !== undefined).join(" "),
    security: securityOf(route),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: { required: !bodyOptional, content: { "application/json": { schema: inputSchema(body) } } },
    }),
    ...(bytes !== undefined && {
      requestBody: { required: true, description: bytes, content: { "application/octet-stream": { schema: {} } } },
    }),
    responses: { ...answersOf(route.answers), ...errorAnswersOf(errorsOf(route)), default: OTHERS },
  };
}

/** `GET /api/sessions/{id}/messages` is getApiSessionsIdMessages. */
const operationId = ({ method, path }: RouteSpec): string =>
  method.toLowerCase() + path.replaceAll(/[^A-Za-z0-9]+(\w?)/g, (_all, first: string) => first.toUpperCase());

/** Programs post to /webhook, and no page does. */
function securityOf({ access }: RouteSpec): Json {
  if (access === "public" || access === "local") return [];
  if (access === "open") return [{}, { bearer: [] }, { pageCookie: [], pageCsrf: [] }];
  return access === "webhook" ? [{ bearer: [] }] : [{ bearer: [] }, { pageCookie: [], pageCsrf: [] }];
}

const SCOPES = {
  webhook: "operator or webhook",
  read: "operator or read",
  operate: "operator",
  connect: "operator, read or webhook",
} as const;

function scopesOf({ access }: RouteSpec): string | undefined {
  if (access === "public") return undefined;
  if (access === "open") return "Takes everybody's; whose token or sign-in comes with it is known by that.";
  return access === "local" ? "Only for programs on this machine." : `Needs a token of scope ${SCOPES[access]}.`;
}

function parametersOf(place: "path" | "query" | "header", strings: ParameterSchemas = {}): Node[] {
  return Object.entries(strings).map(([name, schema]) => ({
    name,
    in: place,
    required: !isOptional(schema),
    ...described(schema),
  }));
}

function answersOf(answers: RouteSpec["answers"]): Record<string, Node> {
  return Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, answerOf(answer)]));
}

function answerOf({ description, body, type = "application/json", moreTypes = [], headers }: AnswerSpec): Node {
  return {
    description,
    ...(headers && { headers: headersOf(headers) }),
    ...(body && {
      content: Object.fromEntries(
        [type, ...moreTypes].map((one) => [one, { schema: inputSchema(one.startsWith("text/") ? TEXT : body) }]),
      ),
    }),
  };
}

/** Of server-sent events beside an answer in one piece. */
const TEXT = v.string();

const headersOf = (headers: ParameterSchemas): Node =>
  Object.fromEntries(
    Object.entries(headers).map(([name, schema]) => [name, { required: !isOptional(schema), ...described(schema) }]),
  );

/** A parameter or header: its description stands beside its schema. */
function described(schema: v.GenericSchema): Node {
  const { description, ...rest } = outputSchema(schema);
  return { ...(description !== undefined && { description }), schema: rest };
}

const ERROR_REF = { $ref: "#/components/schemas/Error" };
const OTHERS = { description: "Anything else.", content: { "application/json": { schema: ERROR_REF } } };

function errorAnswersOf(codes: readonly ErrorCode[]): Record<string, Node> {
  const byStatus = Map.groupBy(codes.toSorted(), (code) => ERRORS[code].status);
  return Object.fromEntries(Array.from(byStatus, ([status, codes]) => [String(status), errorAnswer(status, codes)]));
}

function errorAnswer(status: number, codes: readonly ErrorCode[]): Node {
  // 429 always says how long to wait; of the other errors only BUSY does.
  const waits = status === 429 ? { required: ["retry_after"] } : {};
  const schema = { ...ERROR_REF, properties: { code: { enum: codes } }, ...waits };
  return {
    description: codes.map((code) => `- \`${code}\`: ${ERRORS[code].sentence}`).join("\n"),
    ...(status === 401 && { headers: { "WWW-Authenticate": header("Bearer.") } }),
    ...(status === 429 && { headers: { "Retry-After": header("Whole seconds.") } }),
    content: { "application/json": { schema } },
  };
}

const header = (description: string): Node => ({ description, required: true, schema: { type: "string" } });

// Valibot to JSON Schema 2020-12, which is OpenAPI 3.1's.

type Schema = { readonly [key: string]: Json };

export const CONVERSION: ConversionConfig = {
  target: "draft-2020-12",
  // Checks in a feature's code have no counterpart in JSON Schema; its routes are listed anyway.
  errorMode: "ignore",
  // Trimming does not change which input is valid.
  ignoreActions: ["trim"],
  // JSON Schema reads patterns as if they had the flag u, so that one is no loss.
  overrideAction: ({ valibotAction, jsonSchema }) => {
    if (valibotAction.type !== "regex") return undefined;
    const { source, flags } = (valibotAction as unknown as { readonly requirement: RegExp }).requirement;
    return flags === "u" ? { ...jsonSchema, pattern: source } : undefined;
  },
};

/** The schema of the input, before transformations. */
export const inputSchema = (schema: v.GenericSchema): Schema => converted(schema, "input");

/** The schema of the transformed value: a number in a query is shown as a number. */
const outputSchema = (schema: v.GenericSchema): Schema => converted(schema, "output");

const isOptional = ({ type }: v.GenericSchema): boolean => type === "optional";

function converted(schema: v.GenericSchema, typeMode: "input" | "output"): Schema {
  const { $schema: _dialect, ...rest } = toJsonSchema(schema, { ...CONVERSION, typeMode });
  return rest as Schema;
}
