/** A time in which the daemon can keep nothing: what it says, and where the platforms wait until they come again. */
import type { Fixture } from "../fixture/fixture.ts";
import type { Postings } from "../fixture/poster.ts";
import { eventually } from "../fixture/sleep.ts";
import type { Delivery } from "../plan/messages.ts";

/** Platforms that were refused do not come again until they are told to. */
export class Refused {
  readonly #end = Promise.withResolvers<void>();
  #count = 0;

  /** Before another attempt. */
  async pause(): Promise<void> {
    this.#count += 1;
    await this.#end.promise;
  }

  comeAgain(): void {
    this.#end.resolve();
  }

  /** Resolves when all of these were answered, one way or the other; with what is wrong about that. */
  async decided(deliveries: readonly Delivery[], postings: Postings): Promise<string[]> {
    const isAcknowledged = ({ n }: Delivery): boolean => postings.get(n)?.acknowledgedAt !== undefined;
    const areDecided = (): boolean => this.#count + deliveries.filter(isAcknowledged).length >= deliveries.length;
    if (!(await eventually(areDecided))) return ["a delivery is not answered while nothing can be kept"];
    return this.#count > 0 ? [] : ["no delivery is refused while nothing can be kept"];
  }
}

/** Of a conversation that nobody else has. */
const PROBES = 9999;
/** What is left of the space that the database has already may take some. */
const MOST_PROBES = 500;

/** Delivers until one is refused, as it must be: 503 with this code, while `/health` goes on being answered. */
export async function refusedWith(
  code: string,
  { lives, providers }: Pick<Fixture, "lives" | "providers">,
): Promise<string[]> {
  const [provider] = providers;
  const { letter, path } = provider!;
  for (let probe = 1; probe <= MOST_PROBES; probe += 1) {
    const conversation = `${letter}${PROBES}`;
    const label = `${conversation}-${lives.count}${String(probe).padStart(3, "0")}`;
    const { method, query, headers, body } = provider!.delivery([{ label, kind: "note", conversation }]);
    const response = await fetch(`${lives.url}${path}${query}`, { method, headers, body: Buffer.from(body) });
    if (response.status === 200) continue;
    const answer = (await response.json()) as { readonly code?: string };
    const wrong =
      response.status === 503 && answer.code === code ? [] : [`refused with ${response.status} ${answer.code}`];
    const health = await fetch(`${lives.url}/health`);
    return health.status === 200 ? wrong : [...wrong, `/health is ${health.status} while nothing can be kept`];
  }
  return ["nothing is refused while nothing can be kept"];
}

/** Nothing but this is said to a platform while the daemon is up. */
export const oddAnswers = (postings: Postings): string[] =>
  [...postings.values()].flatMap(({ delivery, statuses }) => {
    const odd = statuses.find((status) => status !== 200 && status !== 503);
    return odd === undefined ? [] : [`${delivery.messages[0]!.label} was answered ${odd}`];
  });
