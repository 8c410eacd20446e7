/** How far each relay was read, and since when whose messages are answered. It is stored with the messages. */
import type { FeatureContext } from "@svc/contract";
import { fieldsOf, parseJson } from "@svc/kit";
import type { Config } from "./config.ts";
import { type Identity, SKEW_SECS } from "./protocol.ts";

export interface PositionDeps {
  readonly context: Pick<FeatureContext<Config>, "config" | "clock" | "state">;
  readonly identity: Identity;
}

/** Clocks of relays and people differ. */
const MARGIN_SECS = 3_600;
/** Without messages, how far the relays were read is stored this often. */
const STORE_EVERY_SECS = 600;

/** Its name in the feature's state. */
const POSITION = "position";

export interface Position {
  /** What this person wrote before is not answered: the channel was not set up, or they were not allowed to write. */
  heardFromSecs(npub: string): number;
  sinceOf(relay: string): number;
  advance(relay: string, readUntilSecs: number): void;
  /** Long enough ago since it was last on disk. */
  isDue(): boolean;
  stored(): Readonly<Record<string, string>>;
}

/** As the last process left it. On disk before anything is read: a kill must not make the beginning later than it was. */
export async function openPosition({ context, identity }: PositionDeps): Promise<Position> {
  const { config, clock, state } = context;
  const nowSecs = (): number => Math.floor(clock.now() / 1000);
  const stored = await state.get(POSITION);
  const found = fieldsOf(stored === undefined ? undefined : parseJson(Buffer.from(stored)));
  // Another account has other messages.
  const isOurs = found["account"] === identity.pubkey;
  const before = isOurs ? numbersIn(found["allowed"]) : {};
  // A clock that was ahead for a while must not make the channel ignore people until that time comes.
  const notAhead = (secs: number): number => Math.min(secs, nowSecs());
  const allowed = Object.fromEntries(
    config.allowed_pubkeys.map((entry) => [entry, notAhead(before[entry] ?? Infinity)]),
  );
  const read = isOurs ? numbersIn(found["read"]) : {};
  const readUntil = Object.fromEntries(config.relays.map((url) => [url, read[url]]));
  const begun = notAhead(isOurs && typeof found["begun"] === "number" ? found["begun"] : Infinity);
  let storedSecs = nowSecs();
  const text = (): string => JSON.stringify({ account: identity.pubkey, begun, allowed, read: readUntil });
  if (stored !== text()) await state.set(POSITION, text());
  return {
    heardFromSecs: (npub) => Math.min(allowed[npub] ?? Infinity, allowed["*"] ?? Infinity),
    sinceOf: (relay) => Math.max(0, notAhead(readUntil[relay] ?? begun) - SKEW_SECS - MARGIN_SECS),
    advance(relay, readUntilSecs) {
      readUntil[relay] = notAhead(Math.max(readUntil[relay] ?? 0, readUntilSecs));
    },
    isDue: () => Math.abs(nowSecs() - storedSecs) >= STORE_EVERY_SECS,
    stored() {
      storedSecs = nowSecs();
      return { [POSITION]: text() };
    },
  };
}

const numbersIn = (value: unknown): Record<string, number> =>
  Object.fromEntries(
    Object.entries(fieldsOf(value)).filter((entry): entry is [string, number] => typeof entry[1] === "number"),
  );
