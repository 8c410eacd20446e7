/** No call of the acting tool was made twice, and what the model was told about one is so. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { actOf, ACTS } from "../fixture/model.ts";
import { askedIn } from "../plan/messages.ts";
import type { StoredState, StoredCall } from "./database.ts";
import type { Judgement } from "./judgement.ts";

export interface ActsOptions {
  readonly home: string;
  /** Nothing could be written for a while: how a call ended may not be noted. */
  readonly wasUnwritable: boolean;
}

export function judgeActs(
  { messages, calls, deliveries }: StoredState,
  { home, wasUnwritable }: ActsOptions,
): Judgement {
  const problems: string[] = [];
  const written = linesOf(join(home, "workspace", "acts"));
  const callsByTurn = Map.groupBy(calls, ({ turnId }) => turnId);
  const saidByTurn = Map.groupBy(deliveries, ({ turnId }) => turnId ?? "");
  const counts = { finished: 0, interrupted: 0, done: 0 };
  for (const { text, turnId } of messages) {
    const asked = askedIn(text);
    if (asked?.kind !== "act") continue;
    const made = Map.groupBy(callsByTurn.get(turnId) ?? [], lineOf);
    let isUnsure = false;
    for (let number = 1; number <= ACTS; number += 1) {
      const act = actOf(asked.label, number);
      const [call, ...more] = made.get(act) ?? [];
      const times = written.get(act) ?? 0;
      if (!call) problems.push(`${act} was not asked for`);
      if (more.length > 0) problems.push(`${act} was begun ${more.length + 1} times`);
      if (times > 1) problems.push(`${act} was done ${times} times`);
      if (call?.state === "finished" && times === 0) problems.push(`${act} is noted as finished and was not done`);
      if (call?.state === "finished") counts.finished += 1;
      else isUnsure = true;
      if (call?.state === "interrupted" || (call?.state === "started" && wasUnwritable)) {
        counts.interrupted += 1;
        counts.done += times;
      } else if (call && call.state !== "finished") problems.push(`${act} is noted as ${call.state}`);
      written.delete(act);
    }
    const said = saidByTurn.get(turnId)?.[0]?.text.startsWith("Nobody knows") ?? false;
    if (said !== isUnsure) problems.push(`the model was told wrongly about ${asked.label}`);
  }
  for (const act of written.keys()) problems.push(`${act} was done, and nobody asked for it`);
  return {
    problems,
    facts: {
      "acting calls finished": counts.finished,
      "acting calls interrupted": counts.interrupted,
      "of them done": counts.done,
    },
  };
}

const lineOf = ({ input }: StoredCall): string => (JSON.parse(input) as { content: string }).content.trim();

/** How often each is there. */
function linesOf(folder: string): Map<string, number> {
  const lines = new Map<string, number>();
  if (!existsSync(folder)) return lines;
  for (const file of readdirSync(folder)) {
    for (const line of readFileSync(join(folder, file), "utf8").split("\n")) {
      if (line !== "") lines.set(line, (lines.get(line) ?? 0) + 1);
    }
  }
  return lines;
}
