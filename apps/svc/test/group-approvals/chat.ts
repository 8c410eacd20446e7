/** A platform as the tests of approvals in groups meet it, whichever it is: four people, rooms, and what the agent posts there. */
import type { Json, SampleDelivery } from "@svc/contract";
import { TELEGRAM_TOKEN } from "@svc/testkit/platforms/telegram/server";

/** `member` may write and not approve. `stranger` may do neither. */
export type Who = "member" | "approver" | "second" | "stranger";

export type Fields = Readonly<Record<string, Json>>;

export interface Writing {
  /** Default: the approver. */
  readonly from?: Who;
  /** The platform's own id of the message, for one that is delivered twice. */
  readonly id?: string;
  readonly atMs?: number;
  /** Fields of the platform's own. */
  readonly more?: Fields;
}

export interface Posted {
  readonly room: string;
  readonly text: string;
  /** What each button hands back; empty without buttons. */
  readonly data: readonly string[];
  /** The platform's id; undefined where it tells none. */
  readonly id: string | undefined;
}

export interface Pressing {
  readonly from?: Who;
  readonly data: string;
  /** Default: the room of the question. */
  readonly room?: string;
  readonly id?: string;
}

/** One platform. */
export interface Chat {
  readonly channel: string;
  /** The name that the approvals record for the person who answered. */
  readonly people: Readonly<Record<Who, string>>;
  /** A room in which all four are; where the platform has no rooms, the chat of the approver. */
  openRoom(): string;
  /** Resolves with the platform's id of it, where the platform tells one. */
  write(room: string, text: string, writing?: Writing): Promise<string | undefined>;
  /** The approver reacts to the question with an emoji, as far as the platform has names for them with this word. */
  react?(question: Posted, word: string): Promise<void>;
  /** The approver writes one thing and makes another of it. */
  edit?(room: string, before: string, after: string): Promise<void>;
  /** Undefined where a question has no buttons. */
  press?(question: Posted, pressing: Pressing): Promise<void>;
  posted(): readonly Posted[];
}

export interface Made {
  readonly chat: Chat;
  readonly section: string;
}

export const listed = (...people: readonly string[]): string => JSON.stringify(people);
/** Lines of a section: who may write, and who may approve. */
export const lists = (key: string, { member, approver, second }: Chat["people"]): string =>
  `${key} = ${listed(member, approver, second)}\napprovers = ${listed(approver, second)}`;

/** Posts as a platform does, and fails the test where that is not taken. */
export type Post = (path: string, delivery: SampleDelivery) => Promise<void>;

export const SECRETS = {
  telegram: TELEGRAM_TOKEN,
  discord: "MTA4MDAwMDAwMDAwMDAwMDAwMQ.GabcdE.bot-token-of-the-groups",
  slackBot: "xoxb-12-34-bot-token-of-the-groups",
  slackApp: "xapp-1-A0APP-34-app-token-of-the-groups",
  mail: "password-of-the-mailbox-of-the-groups",
  aToken: "EAAB-access-token-of-the-groups",
  aSecret: "app-secret-of-the-groups",
  bToken: "api-token-of-b-of-the-groups",
  bSecret: "signing-secret-of-b-of-the-groups",
  cToken: "api-token-of-c-of-the-groups",
  cCallback: "callback-token-of-c-of-the-groups",
  d: "secret-of-d-of-the-groups-0123456789abcdef",
  workchat: "app-secret-of-the-workplace-of-the-groups",
  model: "key-of-the-model-of-the-groups",
} as const;

let count = 0;
/** Tells everything that the tests make from all before. */
export const next = (): number => (count += 1);

export const ALL = [
  "telegram",
  "discord",
  "slack",
  "email",
  "provider_a",
  "provider_b",
  "provider_c",
  "provider_d",
  "workchat",
];
export const ROOMS = ["telegram", "discord", "slack", "provider_a", "provider_b", "provider_d", "workchat"];
export const BUTTONS = ["telegram", "discord", "slack", "workchat"];
