/** Forms of the REST API: only parameters that are documented, in the form that is documented. */
import type { PlatformRequest } from "../base.ts";
import { VoiceError } from "./errors.ts";
import { parseTwiml } from "./twiml.ts";

export type VoiceForm = ReadonlyMap<string, readonly string[]>;

/** By name: whether a value of it is in order. */
export type ParameterRules = Readonly<Record<string, (value: string) => boolean>>;

const isUrl = (value: string): boolean => URL.canParse(value) && /^https?:\/\/[^_/]+(?:\/|$)/.test(value);
const isMethod = (value: string): boolean => value === "GET" || value === "POST";
const isCount =
  (least: number, most: number) =>
  (value: string): boolean =>
    /^[0-9]+$/.test(value) && Number(value) >= least && Number(value) <= most;
const EVENTS: ReadonlySet<string> = new Set(["initiated", "ringing", "answered", "completed"]);

const COMMON: ParameterRules = {
  Url: isUrl,
  Method: isMethod,
  Twiml: isTwiml,
  StatusCallback: isUrl,
  StatusCallbackMethod: isMethod,
  TimeLimit: isCount(1, 14_400),
};

export const CREATE: ParameterRules = {
  ...COMMON,
  To: () => true,
  From: () => true,
  StatusCallbackEvent: (value) => EVENTS.has(value),
  Timeout: isCount(1, 600),
  MachineDetection: (value) => value === "Enable" || value === "DetectMessageEnd",
};

export const UPDATE: ParameterRules = { ...COMMON, Status: (value) => value === "completed" || value === "canceled" };

export const NUMBER: ParameterRules = {
  VoiceUrl: isUrl,
  VoiceMethod: isMethod,
  StatusCallback: isUrl,
  StatusCallbackMethod: isMethod,
};

/** Throws the platform's error for what is not in order. */
export function parametersOf({ headers, body }: PlatformRequest, rules: ParameterRules): VoiceForm {
  if (!headers["content-type"]?.startsWith("application/x-www-form-urlencoded")) {
    throw new VoiceError(415, 20015, "The body is no form");
  }
  const form = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(Buffer.from(body).toString("utf8"))) {
    if (!Object.hasOwn(rules, name)) throw new VoiceError(400, 20001, `${name} is no parameter`);
    if (name === "Twiml" && value.length > 4000) throw new VoiceError(400, 32018, "Twiml size exceeded");
    if (!rules[name]!(value)) throw new VoiceError(400, name.endsWith("Url") ? 21205 : 20001, `${name} is not valid`);
    form.set(name, [...(form.get(name) ?? []), value]);
  }
  if (form.has("Url") && form.has("Twiml")) throw new VoiceError(400, 20001, "Url and Twiml exclude each other");
  return form;
}

export const valueOf = (form: VoiceForm, name: string): string | undefined => form.get(name)?.[0];

function isTwiml(value: string): boolean {
  try {
    parseTwiml(value);
    return true;
  } catch {
    return false;
  }
}
