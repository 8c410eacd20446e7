/** What the control socket may answer: any number of events, then a result or an error that has a code of ours. */
import { ERRORS } from "@svc/contract";
import type { Attack, Exchange } from "../attack.ts";
import { readAnswers } from "../wire/answers.ts";

/** Bytes that are not HTTP have no command to answer; Node's own 400 without a length is enough here. */
const NO_HTTP = /^HTTP\/1\.1 4\d\d [\w ]+\r\nConnection: close\r\n\r\n$/;

export function judgeControl(attack: Attack, exchange: Exchange): string[] {
  if (exchange.endedBy === "server" && NO_HTTP.test(exchange.received.toString("latin1"))) return [];
  const { final, problem } = readAnswers(exchange.received, attack.head);
  const found: string[] = [];
  if (exchange.endedBy === "late") found.push("hangs: no end within the bound");
  if (problem !== undefined) found.push(`sends what is no response: ${problem}`);
  if (final.length > attack.requests) found.push(`answers ${final.length} times to ${attack.requests} requests`);
  if (final.length === 0 && attack.ending === "answer") found.push("closes without an answer");
  for (const { body } of final) found.push(...judgeLines(body.toString("utf8"), attack));
  return found;
}

function judgeLines(text: string, attack: Attack): string[] {
  const lines = text.split("\n").filter((line) => line !== "");
  let last: { readonly type?: unknown; readonly code?: unknown; readonly error?: unknown };
  try {
    last = lines.map((line) => JSON.parse(line) as typeof last).at(-1) ?? {};
  } catch {
    return ["sends a line that is no JSON"];
  }
  if (last.type === "result") return [];
  if (last.type !== "error") return ["ends without a result and without an error"];
  const found: string[] = [];
  if (typeof last.code !== "string" || !Object.hasOwn(ERRORS, last.code)) found.push("an error without a code of ours");
  if (last.code === "INTERNAL") found.push("an error that was not foreseen (INTERNAL)");
  if (attack.marks.some((mark) => String(last.error).includes(mark))) found.push("an error quotes what it was sent");
  return found;
}
