/** Where two mailboxes answer otherwise, apart from what is another each time: ids, places in the history, times of today. */
import type { Answers } from "./script.ts";

export interface Difference {
  readonly asked: string;
  /** Path in the answer; `[]` is any place in a list. */
  readonly at: string;
  readonly theirs: unknown;
  readonly ours: unknown;
}

/** Each once, however many items of a list have it. */
export function differences(theirs: Answers, ours: Answers): Difference[] {
  const [one, other] = [named(theirs), named(ours)];
  return [...theirs.keys()].flatMap((asked) => {
    const [left, right] = [leavesOf(one.get(asked)), leavesOf(other.get(asked))];
    const found = new Map<string, Difference>();
    for (const path of new Set([...left.keys(), ...right.keys()])) {
      const at = path.replaceAll(/\[\d+\]/g, "[]");
      const [mine, yours] = [left.get(path), right.get(path)];
      if (mine !== yours && !found.has(at)) found.set(at, { asked, at, theirs: mine, ours: yours });
    }
    return [...found.values()];
  });
}

/** The same words for the same things in both. */
function named(answers: Answers): Answers {
  const mails = namesFor(
    "mail",
    PUT.map((what) => fieldOf(answers.get(what), "id")),
  );
  const threads = namesFor(
    "thread",
    PUT.map((what) => fieldOf(answers.get(what), "threadId")),
  );
  const nameOf = (key: string, value: unknown, isThread: boolean): unknown => {
    if (key === "threadId" || (key === "id" && isThread)) return threads.get(value) ?? value;
    if (key === "id") return mails.get(value) ?? (/^\d+$/.test(String(value)) ? "a place in the history" : value);
    if (key === "historyId") return /^\d+$/.test(String(value)) ? "a place in the history" : value;
    if (key === "expiration") return `in ${Math.round((Number(value) - Date.now()) / DAY_MS)} days`;
    if (key === "attachmentId" || key === "nextPageToken") return typeof value === "string" ? "something" : value;
    if (key === "sizeEstimate") return typeof value === "number" ? "about so much" : value;
    if (key === "message" && typeof value === "string") return "words";
    return value;
  };
  const walk = (value: unknown, isThread: boolean): unknown => {
    if (Array.isArray(value)) return keyed(value) ?? value.map((one) => walk(one, false));
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).map(([key, one]) => {
      return [key, typeof one === "object" ? walk(one, false) : nameOf(key, one, isThread)] as const;
    });
    return Object.fromEntries(entries);
  };
  return new Map([...answers].map(([asked, answer]) => [asked, walk(answer, asked.startsWith("thread"))]));
}

const DAY_MS = 86_400_000;
/** What was put into the mailbox, and so has a name. */
const PUT = ["import", "insert", "insert into a thread", "send"];

const namesFor = (kind: string, ids: readonly unknown[]): Map<unknown, string> =>
  new Map([...new Set(ids)].map((id, at) => [id, `${kind} ${at + 1}`]));

const fieldOf = (answer: unknown, name: string): unknown => (answer as Record<string, unknown> | undefined)?.[name];

/** Headers and labels by their names, since their order says nothing. */
function keyed(list: readonly unknown[]): Record<string, unknown> | undefined {
  const names = list.map((one) => fieldOf(one, "name"));
  if (list.length === 0 || !names.every((name) => typeof name === "string")) return undefined;
  return Object.fromEntries(list.map((one, at) => [names[at], fieldOf(one, "value") ?? one]));
}

/** By path; of a list or an object with nothing in it, that. */
function leavesOf(value: unknown, path = ""): Map<string, unknown> {
  if (typeof value !== "object" || value === null) return new Map([[path, value]]);
  const inside = Array.isArray(value)
    ? value.map((one, at) => [`${path}[${at}]`, one] as const)
    : Object.entries(value).map(([key, one]) => [path === "" ? key : `${path}.${key}`, one] as const);
  if (inside.length === 0) return new Map([[path, Array.isArray(value) ? "an empty list" : "nothing"]]);
  return new Map(inside.flatMap(([at, one]) => [...leavesOf(one, at)]));
}
