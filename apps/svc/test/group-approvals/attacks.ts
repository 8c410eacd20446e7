/** How an attack on an approval is written down, and the ways in which it is made. */
import type { Chat, Who } from "./chat.ts";
import type { GroupsFixture, Question } from "./fixture.ts";

export interface Attack {
  readonly what: string;
  readonly on: readonly string[];
  /** Resolves when the platform has told of it. */
  readonly make: (chat: Chat, question: Question, groups: GroupsFixture) => Promise<unknown>;
}

export const inTurn = async (each: readonly (() => Promise<unknown>)[]): Promise<void> => {
  for (const one of each) await one();
};

export const says =
  (texts: (question: Question) => readonly string[], from: Who = "approver") =>
  (chat: Chat, question: Question): Promise<void> =>
    inTurn(texts(question).map((text) => () => chat.write(question.room, text, { from })));

/** The approver's message with fields of the platform's own. */
export const as =
  (...all: readonly Readonly<Record<string, unknown>>[]) =>
  (chat: Chat, question: Question): Promise<void> =>
    inTurn(all.map((more) => () => chat.write(question.room, `yes #${question.n}`, { more: more as never })));
