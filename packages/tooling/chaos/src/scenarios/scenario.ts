/** What every scenario takes and tells. */
import type { MissingPart } from "@svc/testkit/require-real";

export interface ScenarioOptions {
  readonly seed: number;
  readonly deliveries: number;
  readonly kills: number;
  /** Of everyday. Default: 400. */
  readonly messages?: number | undefined;
  /** Share of the platforms' other requests, from 0 to 1, that fail beside a tenth of the sends. Default: none. */
  readonly failingReads?: number | undefined;
  /** Default: as all tests of the binary have it. */
  readonly binary?: string | undefined;
  /** Where the home is left when something does not hold. Default: nowhere. */
  readonly evidence?: string | undefined;
  /** Told what goes on. */
  readonly say?: (line: string) => void;
}

export interface Report {
  readonly scenario: string;
  readonly seed: number;
  /** It did not run, for this machine lacks something. */
  readonly missing?: MissingPart;
  /** Everything that does not hold, as sentences; none when all is well. */
  readonly problems: readonly string[];
  readonly facts: Facts;
}

/** What was counted, under the name that it is shown by. */
export type Facts = Readonly<Record<string, number | string>>;

export const notRun = (scenario: string, seed: number, missing: MissingPart): Report => ({
  scenario,
  seed,
  missing,
  problems: [],
  facts: {},
});
