/** Everything that was written is kept, once, and within a chat in the order in which it was written. */
import { labelIn, numberIn } from "../plan/messages.ts";
import type { StoredState } from "../judge/database.ts";
import type { Written } from "./people.ts";

export function heard({ messages }: Pick<StoredState, "messages">, writings: readonly Written[]): string[] {
  const own = messages.filter(({ kind }) => kind === "message");
  const times = Map.groupBy(own, ({ text }) => labelIn(text) ?? "");
  const counts = writings.flatMap(({ label }) => {
    const count = times.get(label)?.length ?? 0;
    return count === 1
      ? []
      : [count === 0 ? `${label} was written and is not kept` : `${label} is kept ${count} times`];
  });
  const queues = [...Map.groupBy(own, ({ queue }) => queue)].flatMap(([queue, all]) => {
    const numbers = all.flatMap(({ text }) => labelIn(text) ?? []).map(numberIn);
    const isAscending = numbers.every((number, index) => index === 0 || numbers[index - 1]! < number);
    return isAscending ? [] : [`messages of ${queue} were kept out of order`];
  });
  return [...counts, ...queues];
}
