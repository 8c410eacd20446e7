/** Who writes, and when: whether the daemon is there or not, as people do. */
import { seededRandom } from "@svc/testkit/platforms/seeded-random";
import { Release } from "../fixture/release.ts";
import { sleep } from "../fixture/sleep.ts";
import { deliveriesOf, type Message, textOf } from "../plan/messages.ts";
import { numberOf } from "../providers/provider.ts";
import { CHANNELS, type EverydayFixture } from "./fixture.ts";

export interface Written extends Message {
  readonly channel: string;
}

/** Of all answers; the rest is there too soon to be seen being written. */
const STORIES = 0.35;
const LONGEST_GAP_MS = 30;

/** What people write on all channels, by the seed alone. */
export const writingsOf = (seed: number, count: number): Written[] =>
  deliveriesOf(
    CHANNELS.map((channel) => ({ channel, letter: channel.charAt(0), batch: 1, stories: STORIES })),
    count,
    seededRandom(seed),
  ).flatMap(({ channel, messages }) => messages.map((message) => ({ ...message, channel })));

/** How many there have to be on each platform. */
export const peopleIn = (writings: readonly Written[]): number =>
  Math.max(...writings.map(({ conversation }) => numberOf(conversation) + 1));

export const chatOf = (platforms: EverydayFixture["platforms"], { channel, conversation }: Written): string => {
  const platform = platforms.find(({ id }) => id === channel)!;
  return platform.chatOf(platform.people[numberOf(conversation)]!);
};

/** Resolves when all is written. */
export async function write(
  { platforms, happenings }: EverydayFixture,
  writings: readonly Written[],
  { release, seed }: { readonly release: Release; readonly seed: number },
): Promise<void> {
  const random = seededRandom(seed + 3);
  for (const [place, message] of writings.entries()) {
    await release.of(place);
    await sleep(random() * LONGEST_GAP_MS);
    const platform = platforms.find(({ id }) => id === message.channel)!;
    happenings.note("posted");
    platform.write(textOf(message), platform.people[numberOf(message.conversation)]);
  }
}
