/** All attacks on one endpoint, the frequent kinds more often than the dear ones. */
import * as fc from "fast-check";
import type { Attack } from "../attack.ts";
import { bodyAttacks } from "./bodies.ts";
import { chunkAttacks } from "./chunks.ts";
import { framingAttacks } from "./framing.ts";
import { headerAttacks } from "./headers.ts";
import { partialAttacks } from "./partial.ts";
import { protocolAttacks } from "./protocols.ts";
import { slowAttacks } from "./slow.ts";
import { socketAttacks } from "./socket.ts";
import { type Credentials, type Endpoint, subjectOf } from "./subject.ts";
import { targetAttacks } from "./targets.ts";

export const attacksOn = (endpoint: Endpoint, credentials: Credentials): fc.Arbitrary<Attack> =>
  subjectOf(endpoint, credentials).chain((subject) =>
    fc.oneof(
      { weight: 6, arbitrary: bodyAttacks(subject) },
      { weight: 6, arbitrary: headerAttacks(subject) },
      { weight: 5, arbitrary: framingAttacks(subject) },
      { weight: 3, arbitrary: chunkAttacks(subject) },
      { weight: 4, arbitrary: targetAttacks(subject) },
      { weight: 3, arbitrary: protocolAttacks(subject) },
      { weight: 3, arbitrary: partialAttacks(subject) },
      ...(endpoint.isSocket ? [{ weight: 20, arbitrary: socketAttacks(subject) }] : []),
    ),
  );

export const slowAttacksOn = (endpoint: Endpoint, credentials: Credentials): fc.Arbitrary<Attack> =>
  subjectOf(endpoint, credentials).chain(slowAttacks);

/** A deterministic stretch of them; `part` counts the stretches. */
export const sample = (attacks: fc.Arbitrary<Attack>, seed: number, part: number, count: number): Attack[] =>
  fc.sample(attacks, { seed: (seed + Math.imul(part, 0x9e3779b1)) | 0, numRuns: count });
