/** What people write. Every message has a label that is nobody else's, by which it and its answer are known everywhere. */

/**
 * `note` is answered with a sentence, `long` with more than a platform takes at once, `act` by two calls of a tool that
 * acts, and a sentence, `story` with some sentences that take their time.
 */
export type MessageKind = "note" | "long" | "act" | "story";

export interface Message {
  /** `a12-3`: the third message of conversation `a12`. */
  readonly label: string;
  readonly kind: MessageKind;
  readonly conversation: string;
}

/** One webhook of a platform. */
export interface Delivery {
  readonly n: number;
  readonly channel: string;
  readonly messages: readonly Message[];
}

/** Of one platform. */
export interface Writer {
  readonly channel: string;
  readonly letter: string;
  /** Most messages that it puts into one delivery. */
  readonly batch: number;
  /** Share of stories, from 0 to 1. Default: none. */
  readonly stories?: number;
}

/** Messages of a conversation on the average: enough to have an order, and a history. */
const PER_CONVERSATION = 12;
const LONG = 0.02;
const ACTING = 0.15;
const BATCHED = 0.1;

export function deliveriesOf(writers: readonly Writer[], count: number, random: () => number): Delivery[] {
  const conversations = Math.max(1, Math.ceil(count / writers.length / PER_CONVERSATION));
  const written = new Map<string, number>();
  const write = ({ letter, stories = 0 }: Writer): Message => {
    const conversation = `${letter}${Math.floor(random() * conversations)}`;
    const number = (written.get(conversation) ?? 0) + 1;
    written.set(conversation, number);
    return { label: `${conversation}-${number}`, kind: kindOf(random(), stories), conversation };
  };
  return Array.from({ length: count }, (_, n) => {
    const writer = writers[n % writers.length]!;
    const size = random() < BATCHED ? 1 + Math.floor(random() * writer.batch) : 1;
    return { n, channel: writer.channel, messages: Array.from({ length: size }, () => write(writer)) };
  });
}

function kindOf(chance: number, stories: number): MessageKind {
  if (chance < LONG) return "long";
  if (chance < LONG + ACTING) return "act";
  return chance > 1 - stories ? "story" : "note";
}

/** What the person writes. */
export const textOf = ({ kind, label }: Message): string => `Please do this: ${kind} ${label}`;

const ASKED = /\b(note|long|act|story) ([a-z]+\d+-\d+)\b/;
const LABEL = /\b[a-z]+\d+-\d+\b/;

/** The label and kind in the text of a message. */
export function askedIn(text: string): { readonly kind: MessageKind; readonly label: string } | undefined {
  const [, kind, label] = ASKED.exec(text) ?? [];
  return kind === undefined || label === undefined ? undefined : { kind: kind as MessageKind, label };
}

/** The first label in a text. */
export const labelIn = (text: string): string | undefined => LABEL.exec(text)?.[0];

/** Its place in the conversation, from 1. */
export const numberIn = (label: string): number => Number(label.slice(label.lastIndexOf("-") + 1));

export const conversationIn = (label: string): string => label.slice(0, label.lastIndexOf("-"));
