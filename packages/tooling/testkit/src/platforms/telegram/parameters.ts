/**
 * The parameters of a request, from wherever they come: the query, a form or JSON. Stricter than the platform, which passes
 * over what it does not know: a misspelt parameter is refused here.
 * https://core.telegram.org/bots/api#making-requests
 */
import type { Json } from "@svc/contract";
import type { PlatformRequest } from "../base.ts";
import { badRequest } from "./answer.ts";
import { type FormPart, formParts } from "./form.ts";

export type ParameterType = "chat" | "integer" | "boolean" | "text" | "object" | "list" | "file";

/** By name; a `!` behind the type: it must be there. */
export type ParameterSpec = Readonly<Record<string, ParameterType | `${ParameterType}!`>>;

export interface Parameters {
  readonly values: Readonly<Record<string, Json>>;
  /** Uploaded with it, by the name of their part. */
  readonly files: ReadonlyMap<string, FormPart>;
}

/** Throws what the platform says of a missing or wrong one. */
export function parametersOf(request: PlatformRequest, spec: ParameterSpec): Parameters {
  const { given, files, isText } = givenIn(request);
  const values: Record<string, Json> = {};
  for (const [name, value] of Object.entries(given)) {
    const type = spec[name];
    if (type === undefined) throw badRequest(`parameter "${name}" is not known`);
    if (value !== null) values[name] = typed(name, value, type.replace("!", "") as ParameterType, isText);
  }
  for (const [name, type] of Object.entries(spec)) {
    const isThere = values[name] !== undefined || files.has(name);
    if (type.endsWith("!") && !isThere) throw badRequest(`parameter "${name}" is required`);
  }
  return { values, files };
}

interface Given {
  readonly given: Readonly<Record<string, Json>>;
  readonly files: ReadonlyMap<string, FormPart>;
  /** All values are texts: objects are JSON in them. */
  readonly isText: boolean;
}

function givenIn({ query, headers, body, json }: PlatformRequest): Given {
  const type = headers["content-type"] ?? "";
  const inQuery = Object.fromEntries(query);
  if (body.length === 0) return { given: inQuery, files: new Map(), isText: true };
  if (/^application\/json\b/i.test(type)) {
    if (typeof json !== "object" || json === null || Array.isArray(json)) throw badRequest("can't parse request body");
    return { given: json as Record<string, Json>, files: new Map(), isText: false };
  }
  if (/^application\/x-www-form-urlencoded\b/i.test(type)) {
    const form = Object.fromEntries(new URLSearchParams(Buffer.from(body).toString("utf8")));
    return { given: { ...inQuery, ...form }, files: new Map(), isText: true };
  }
  const parts = /^multipart\/form-data\b/i.test(type) ? formParts(type, body) : undefined;
  if (parts === undefined) throw badRequest("can't parse request body");
  const fields = parts.filter(({ fileName }) => fileName === undefined);
  const files = parts.filter(({ fileName }) => fileName !== undefined);
  const form = Object.fromEntries(fields.map(({ name, bytes }) => [name, bytes.toString("utf8")]));
  return {
    given: { ...inQuery, ...form },
    files: new Map(files.map((file) => [file.name, file])),
    isText: true,
  };
}

function typed(name: string, value: Json, type: ParameterType, isText: boolean): Json {
  const parsed = isText && typeof value === "string" ? fromText(name, value, type) : value;
  if (!IS[type](parsed)) throw badRequest(`parameter "${name}" must be ${type}`);
  return parsed;
}

const IS: Readonly<Record<ParameterType, (value: Json) => boolean>> = {
  chat: (value) => Number.isSafeInteger(value) || (typeof value === "string" && /^(?:-?\d+|@\w{4,32})$/.test(value)),
  integer: (value) => Number.isSafeInteger(value),
  boolean: (value) => typeof value === "boolean",
  text: (value) => typeof value === "string",
  object: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  list: (value) => Array.isArray(value),
  file: (value) => typeof value === "string",
};

function fromText(name: string, text: string, type: ParameterType): Json {
  if (type === "integer") return /^-?\d{1,16}$/.test(text) ? Number(text) : text;
  if (type === "boolean") return text === "true" ? true : text === "false" ? false : text;
  if (type !== "object" && type !== "list") return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw badRequest(`can't parse ${name} JSON object`);
  }
}
