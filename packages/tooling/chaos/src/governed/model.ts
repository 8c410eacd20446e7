/** A model that does a step of a procedure: one call that acts, by the label of what started the run. */
import type { Json } from "@svc/contract";
import type { ModelRequest } from "@svc/testkit/fake-model/server";
import type { ModelStep } from "@svc/testkit/fake-model/step";
import { fieldsOf } from "../providers/provider.ts";
import { ACTS } from "./files.ts";

/** The line that step `number` of the run leaves behind. */
export const actOf = (label: string, number: number): string => `${label}/${number}`;

const LABEL = /"label":"([a-z]+-\d+)"/;

export const labelOf = (text: string): string | undefined => LABEL.exec(text)?.[1];

export function doStep({ body }: ModelRequest): ModelStep {
  const messages = (body["messages"] as Json[]).map(fieldsOf);
  const at = messages.findLastIndex(({ role }) => role === "user");
  const text = textOf(messages[at]?.["content"]);
  const label = labelOf(text);
  const number = /^Step (\d+) of \d+:/.exec(text)?.[1];
  // An answer of a person that came when nothing was to be answered any more.
  if (label === undefined || number === undefined) return { text: "Nothing is asked." };
  if (messages.slice(at + 1).some(({ role }) => role === "tool")) return { text: `Done: ${label}.` };
  const content = `${actOf(label, Number(number))}\n`;
  return { calls: [{ name: "file_write", input: { path: ACTS, content, mode: "append" } }] };
}

const textOf = (content: unknown): string => (typeof content === "string" ? content : JSON.stringify(content ?? ""));
