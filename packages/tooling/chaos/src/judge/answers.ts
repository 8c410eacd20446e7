/** What is kept has exactly one turn, which was completed, and that turn's answer is what the model said. */
import { answerTo } from "../fixture/model.ts";
import { askedIn } from "../plan/messages.ts";
import type { StoredState, StoredDelivery, StoredMessage } from "./database.ts";
import type { Judgement } from "./judgement.ts";

export function judgeAnswers({ messages, deliveries, turns, leftOver }: StoredState): Judgement {
  const problems: string[] = [];
  const turnsById = Map.groupBy(turns, ({ id }) => id);
  const saidByTurn = Map.groupBy(deliveries, ({ turnId }) => turnId ?? "");
  const own = messages.filter(({ kind }) => kind === "message");
  for (const message of own) {
    const { n, state, error, turnId } = message;
    if (state !== "done") problems.push(`in-${n} ended ${state ?? "not at all"} ${error ?? ""}`.trim());
    const count = turnsById.get(turnId)?.length ?? 0;
    if (count !== 1) problems.push(`in-${n} has ${count} turns`);
    if (!isAnswered(message, saidByTurn.get(turnId) ?? [])) problems.push(`the answer to in-${n} is not the model's`);
  }
  const known = new Set(own.map(({ turnId }) => turnId));
  for (const id of turnsById.keys()) if (!known.has(id)) problems.push(`the turn ${id} belongs to no message`);
  for (const { n, turnId } of deliveries) {
    if (!known.has(turnId ?? "")) problems.push(`out-${n} belongs to no message`);
  }
  for (const [table, count] of Object.entries(leftOver)) {
    if (count > 0) problems.push(`${count} rows are left in ${table}`);
  }
  return { problems, facts: { "messages kept": own.length, "turns completed": turns.length } };
}

/** White space at the cuts between parts is dropped. */
function isAnswered({ text }: StoredMessage, said: readonly StoredDelivery[]): boolean {
  const asked = askedIn(text);
  if (!asked) return false;
  const answer = said.map((part) => part.text).join(" ");
  return [false, true].some((isUnsure) => answerTo(asked.kind, asked.label, isUnsure) === answer);
}
