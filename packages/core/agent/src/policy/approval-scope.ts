/**
 * Yeses that outlast one call. What one covers is a pattern of the call's own arguments, all of them equal, and never more: whoever
 * writes the next call is a model that may have read a stranger's text.
 */
import { createHash } from "node:crypto";
import type { Json, Tool } from "@svc/contract";
import type { CoreConfig } from "@svc/config";
import { exactLine, type LineRules } from "./command-line.ts";

/** A line of `security.policy.always`. */
export type AlwaysRule = CoreConfig["security.policy"]["always"][number];

/** What a lasting yes to a call covers. */
export interface CallPattern {
  /** Equal for calls that the same yes covers, and for no others. */
  readonly key: string;
  /** For the person who chooses it; tells all that has to be equal. */
  readonly text: string;
}

export interface ApprovalScope {
  /** Undefined: a yes to this call holds once, whatever it is asked for. */
  readonly conversation: CallPattern | undefined;
  readonly always: (CallPattern & { readonly rule: AlwaysRule }) | undefined;
  /** Why one of them is missing, as a sentence. */
  readonly reason: string | undefined;
}

export interface ApprovalScopePlace extends Omit<LineRules, "allowedCommands" | "folder"> {
  /** Name of the agent: a yes to one is none to another. */
  readonly agent: string;
}

/** Longest rule; a person has to be able to read it. */
const MAX_CHARS = 2_000;

const ONCE = "This tool asks about every call.";
const LONG = "The call is too long for a rule that people can read.";
const CONTENT = "A rule can't cover content that no person has seen.";
const HIDDEN = "The call has line breaks, or characters that can't be seen.";

/** What yeses to this call could last for. `input` has passed the tool's schema. */
export function approvalScopeOf(tool: Tool, input: unknown, place: ApprovalScopePlace): ApprovalScope {
  const { lasting } = tool;
  if (lasting === undefined || !isObject(input)) return never(ONCE);
  const parts: Deps | string = tool.commandLine
    ? commandParts(tool, input, place)
    : { rest: input, canonical: undefined };
  if (typeof parts === "string") return never(parts);
  const { command, folder, rest, canonical } = parts;
  const rule: AlwaysRule = {
    agent: place.agent,
    tool: tool.name,
    ...(command !== undefined && { command, folder: folder ?? "." }),
    ...(Object.keys(rest).length > 0 && { input: sorted(rest) }),
  };
  const free = lasting.free ?? [];
  if (free.length > 0) {
    const fixed = Object.fromEntries(Object.entries(rest).filter(([name]) => !free.includes(name)));
    const pattern = { ...rule, input: sorted(fixed) };
    const shown = `${textOf(pattern)}, any ${free.join(" and ")}`;
    if (hasHidden(shown)) return never(HIDDEN);
    if (shown.length > MAX_CHARS) return never(LONG);
    return { conversation: { key: keyOf(pattern, canonical), text: shown }, always: undefined, reason: CONTENT };
  }
  const text = textOf(rule);
  if (hasHidden(text)) return never(HIDDEN);
  if (text.length > MAX_CHARS) return never(LONG);
  const pattern = { key: keyOf(rule, canonical), text };
  return { conversation: pattern, always: { ...pattern, rule }, reason: undefined };
}

/** Whether a rule of the config covers the call. A rule that was written by hand is held to the same as one that was chosen. */
export function isAlwaysAllowed(
  rules: readonly AlwaysRule[],
  tool: Tool,
  input: unknown,
  place: ApprovalScopePlace,
): boolean {
  const candidates = rules.filter((rule) => rule.agent === place.agent && rule.tool === tool.name);
  if (candidates.length === 0) return false;
  const { always } = approvalScopeOf(tool, input, place);
  return always !== undefined && candidates.some((rule) => keyOfRule(rule, place) === always.key);
}

/** For a person, and for telling two rules apart. */
export const textOf = ({ tool, command, folder, input }: AlwaysRule): string =>
  [
    command === undefined ? tool : `${tool}: ${command}`,
    ...(folder !== undefined && folder !== "." ? [`in ${folder}`] : []),
    ...(input === undefined ? [] : [command === undefined ? input : `with ${input}`]),
  ].join(" ");

/** Names a rule wherever it stands in the list. */
export const ruleIdOf = ({ agent, tool, command, folder, input }: AlwaysRule): string =>
  hash([agent, tool, command ?? null, folder ?? null, input ?? null]).slice(0, 16);

const never = (reason: string): ApprovalScope => ({ conversation: undefined, always: undefined, reason });

interface Deps {
  readonly command?: string;
  readonly folder?: string;
  /** What is left of the input. */
  readonly rest: Readonly<Record<string, unknown>>;
  readonly canonical: string | undefined;
}

/** A command line counts as it is understood; everything else of the call as it is written. */
function commandParts(tool: Tool, input: Readonly<Record<string, unknown>>, place: ApprovalScopePlace): Deps | string {
  const command = tool.commandLine!(input);
  const given = tool.commandFolder?.(input);
  const folder = given ?? ".";
  const line = exactLine(command, { ...place, folder });
  if (typeof line === "string") return line;
  const names = Object.keys(input);
  const commandName = names.find((name) => input[name] === command);
  const folderName = names.find((name) => given !== undefined && name !== commandName && input[name] === given);
  // A line that the tool puts together itself is not all of what it was given.
  const described = new Set([commandName, folderName]);
  const rest = Object.fromEntries(Object.entries(input).filter(([name]) => !described.has(name)));
  return { command: command.trim(), folder, rest, canonical: line.canonical };
}

/** Undefined: it is a rule for nothing. */
function keyOfRule(rule: AlwaysRule, place: ApprovalScopePlace): string | undefined {
  if (rule.command === undefined) return keyOf(rule, undefined);
  const line = exactLine(rule.command, { ...place, folder: rule.folder ?? "." });
  return typeof line === "string" ? undefined : keyOf({ ...rule, folder: rule.folder ?? "." }, line.canonical);
}

function keyOf({ agent, tool, folder, input }: AlwaysRule, canonical: string | undefined): string {
  return hash([agent, tool, canonical ?? null, folder ?? null, input === undefined ? null : resorted(input)]);
}

const hash = (parts: readonly (string | null)[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex");

/** As `sorted`, of a text that somebody may have written by hand. */
function resorted(text: string): string {
  try {
    return sorted(JSON.parse(text) as Json);
  } catch {
    // No call has this.
    return `not JSON: ${text}`;
  }
}

/** JSON in which the order of keys does not count. */
const sorted = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    isObject(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  );

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Line breaks, other blanks than the plain one, and what draws nothing: a person approves what is seen, and reads a rule long after. */
const hasHidden = (text: string): boolean =>
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{DI}\u2800]|(?! )\p{Zs}/u.test(text);
