/** All that is decided beforehand, by the seed alone: who writes what, in which order it is posted, when the daemon is killed. */
import { seededRandom } from "@svc/testkit/platforms/seeded-random";
import { type Kill, killsOf } from "./kills.ts";
import { type Delivery, deliveriesOf, type Writer } from "./messages.ts";

export interface Plan {
  readonly deliveries: readonly Delivery[];
  /** In the order in which they are begun. Some are there twice. */
  readonly posts: readonly Delivery[];
  readonly kills: readonly Kill[];
}

export interface PlanOptions {
  readonly seed: number;
  readonly deliveries: number;
  readonly kills: number;
  readonly writers: readonly Writer[];
}

export function planOf({ seed, deliveries: count, kills, writers }: PlanOptions): Plan {
  const deliveries = deliveriesOf(writers, count, seededRandom(seed));
  const posts = postsOf(deliveries, seededRandom(seed + 1));
  return { deliveries, posts, kills: killsOf(kills, posts.length, seededRandom(seed + 2)) };
}

/** Share of deliveries that the platform makes once more, and how much later at most. */
const REPEATED = 0.1;
const REPEAT_WITHIN = 100;
/** How many places a delivery may be early or late. */
const DISORDER = 20;

function postsOf(deliveries: readonly Delivery[], random: () => number): Delivery[] {
  const places = deliveries.flatMap((delivery, index) => {
    const once = { delivery, place: index + random() * DISORDER };
    return random() < REPEATED ? [once, { delivery, place: index + random() * REPEAT_WITHIN }] : [once];
  });
  return places.toSorted((a, b) => a.place - b.place).map(({ delivery }) => delivery);
}
