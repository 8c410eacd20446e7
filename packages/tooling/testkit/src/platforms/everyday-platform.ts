/** A platform of a channel that people use every day, behind one interface: a person writes, and the test reads. */
import type { FakePlatform } from "./base.ts";

export interface Seen {
  /** As in `chatOf`. */
  readonly chat: string;
  readonly text: string;
  readonly buttons?: readonly string[] | undefined;
}

export interface EverydayOptions {
  /** How many people are on the list. Default: one. */
  readonly people?: number;
}

export interface EverydayPlatform {
  /** The channel's id. */
  readonly id: string;
  /** The server behind it, whose mood may be changed. */
  readonly fake: Pick<FakePlatform, "url" | "mood">;
  /** Of the config, with the people allowed, and `keys` beside what it needs. */
  section(keys?: string): string;
  /** The chat of the first person with the agent, as `svc send` takes it. */
  readonly chat: string;
  readonly person: string;
  /** All of them, the first one first. */
  readonly people: readonly string[];
  chatOf(person: string): string;
  /** What the section has to be kept quiet about. */
  readonly secrets: readonly string[];
  /** The first person, or another, or a stranger, writes to the agent. */
  write(text: string, who?: string): void;
  /** The person presses a button of the question that was posted last. */
  press(approved: boolean): void;
  /** What people see of the agent, oldest first. */
  seen(): readonly Seen[];
  /** What the platform does to its connections now and then, by the name that it has there. */
  readonly disturbances: Readonly<Record<string, () => void>>;
  /** Hands over once more what nobody confirmed, where it does that without being asked. Tells how much that is. */
  handOverAgain(): number;
  /** What it was asked for, in order. */
  readonly requests: readonly { readonly path: string }[];
  close(): Promise<void>;
}

/** `name`: of the one with this number, from 0. */
export const peopleBy = (name: (number: number) => string, { people = 1 }: EverydayOptions): string[] =>
  Array.from({ length: people }, (_, number) => name(number));

/** As a list of the config. */
export const listed = (people: readonly string[]): string => JSON.stringify(people);
