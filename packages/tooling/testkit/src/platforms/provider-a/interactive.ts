/** Messages with reply buttons, as the documents say: one to three, with titles of twenty characters and ids of 256. */
import type { PlatformReply } from "../base.ts";
import { graphError } from "./graph-error.ts";

export interface ReplyButton {
  readonly id: string;
  readonly title: string;
}

type Fields = Readonly<Record<string, unknown>>;

const MAX = { body: 1024, title: 20, id: 256, buttons: 3 } as const;

/** Undefined when there is nothing wrong with it. */
export function interactiveProblem(content: unknown): PlatformReply | undefined {
  const { type, body, action, ...rest } = fieldsOf(content);
  if (Object.keys(rest).length > 0) return graphError(100, `Unexpected key "${Object.keys(rest)[0]}".`);
  if (type !== "button") return graphError(100, "Param interactive['type'] must be button here.");
  const { text } = fieldsOf(body);
  if (!isText(text, MAX.body)) return graphError(131009, "Body text must be between 1 and 1024 characters.");
  const buttons = buttonsOf(action);
  if (buttons.length === 0 || buttons.length > MAX.buttons) return graphError(131009, "Between 1 and 3 buttons.");
  const replies = repliesOf(content);
  const areRight = buttons.every((button) => fieldsOf(button)["type"] === "reply") && replies.every(isRight);
  if (!areRight) return graphError(131009, "Button title must be between 1 and 20 characters, its id up to 256.");
  const isDistinct = (["id", "title"] as const).every(
    (key) => new Set(replies.map((one) => one[key])).size === replies.length,
  );
  return isDistinct ? undefined : graphError(131009, "Duplicated button title or id.");
}

export const repliesOf = (content: unknown): ReplyButton[] =>
  buttonsOf(fieldsOf(content)["action"]).map((button) => fieldsOf(fieldsOf(button)["reply"]) as unknown as ReplyButton);

const isRight = ({ id, title }: ReplyButton): boolean => isText(id, MAX.id) && isText(title, MAX.title);

const buttonsOf = (action: unknown): readonly unknown[] => {
  const { buttons } = fieldsOf(action);
  return Array.isArray(buttons) ? (buttons as unknown[]) : [];
};

const isText = (value: unknown, maxChars: number): boolean =>
  typeof value === "string" && value.trim() !== "" && value.length <= maxChars;

const fieldsOf = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {});
